import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { ApiError } from '../../../client/client.ts'
import type { Load } from '../../../client/operations.ts'
import { badge } from '../../components/badge.ts'
import { chart } from '../../components/chart.ts'
import { memoryGauge } from '../../components/gauge.ts'
import { listing } from '../../components/listing.ts'
import { whenLoaded } from '../../components/loading.ts'
import { en, t, type TextName } from '../../messages/texts.ts'
import { call, callAnonymously } from '../../state/api.ts'
import { useLoaded } from '../../state/loading.ts'
import { bdi, details, div, h2, li, p, summary, ul, view } from '../../ui/tags.ts'
import { memoryBySession } from './memory.ts'

type Checks = Readonly<Record<string, unknown>>

interface Health {
  readonly isReady: boolean
  readonly checks: Checks
}

/** Reads the health. A service that is not ready responds 503 with the same body. */
const readHealth = async (): Promise<Health> => {
  try {
    return { isReady: true, checks: (await callAnonymously('getReadiness')).checks }
  } catch (error) {
    if (!(error instanceof ApiError) || typeof error.body !== 'object' || error.body === null
      || !('checks' in error.body)) throw error
    return { isReady: false, checks: error.body.checks as Checks }
  }
}

const isText = (name: string): name is TextName => Object.hasOwn(en, name)
const nameOf = (check: string): string => {
  const name = `check_${check}`
  return isText(name) ? t(name) : check
}

interface Projection {
  readonly projection: string
  readonly error: string | null
}

/** Describes the problem that a check found; null when the check is fine. */
const problemOf = (found: unknown): string | null => {
  if (typeof found === 'string') return found === 'ok' || found === 'running' ? null : found
  if (!Array.isArray(found)) return null
  const problems = (found as ReadonlyArray<unknown>).filter((item) =>
    typeof item !== 'object' || item === null || !('error' in item) || item.error !== null)
  if (problems.length === 0) return null
  const nameOfItem = (item: unknown): string =>
    typeof item === 'string' ? item : ((item as Projection).projection ?? JSON.stringify(item))
  return problems.map(nameOfItem).join(', ')
}

const healthOf = ({ isReady, checks }: Health): VNode =>
  div(
    null,
    p(null, isReady ? badge('good', '✓', t('health_ready')) : badge('bad', '!', t('health_unready'))),
    ul(
      { class: 'checks' },
      ...Object.entries(checks).filter(([, found]) => typeof found !== 'boolean').map(([check, found]) => {
        const problem = problemOf(found)
        const mark = problem === null ? badge('good', '✓', nameOf(check)) : badge('bad', '!', nameOf(check))
        return li({ key: check }, mark, problem === null ? null : bdi(null, ` ${problem}`))
      }),
    ),
  )

const SAMPLES_PER_MINUTE = 6

const loadOf = (load: Load): VNode => {
  const count = load.sessions.length
  if (count === 0) return p({ class: 'hint' }, t('load_none'))
  const rows = load.sessions.flatMap((sessions, i) =>
    (count - 1 - i) % SAMPLES_PER_MINUTE === 0
      ? [{ key: i, cells: [String((count - 1 - i) / SAMPLES_PER_MINUTE),
        ...[load.lag_max[i], load.lag_p95[i], load.vram_reserved[i], sessions, load.listeners[i]].map(String)] }]
      : [])
  return div(
    null,
    chart(t('load_lag'), [load.lag_max, load.lag_p95]), chart(t('load_memory'), [load.vram_reserved]),
    chart(t('load_sessions'), [load.sessions, load.listeners]),
    details(
      null,
      summary(null, t('as_table')),
      listing(t('load'), [t('time_ago'), t('lag_max'), t('lag_p95'), t('vram_reserved'), t('load_open'),
        t('load_listeners')], rows),
    ),
  )
}

const REFRESH_MS = 10_000

const Overview = (): VNode => {
  const isOpen = useSignal(false)
  const { state, reload } = useLoaded(
    () => Promise.all([readHealth(), call('getCapacity'), call('getLoad', { query: { minutes: 60 } })]), '', REFRESH_MS,
  )
  return whenLoaded(state.value, reload, ([health, capacity, load]) =>
    div(null, h2(null, t('health')), healthOf(health), memoryGauge('admin-memory', capacity.data),
      details({ onToggle: ({ currentTarget }) => (isOpen.value = currentTarget.open) },
        summary(null, t('memory_by_session')),
        isOpen.value ? memoryBySession({ total: capacity.data.vram_total }) : null),
      h2(null, t('load')), loadOf(load.data)))
}

export const overview = view(Overview)
