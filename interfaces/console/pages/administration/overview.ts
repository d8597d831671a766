import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { ApiError } from '../../../client/client.ts'
import type { Load } from '../../../client/operations.ts'
import { badge } from '../../components/badge.ts'
import { chart } from '../../components/chart.ts'
import { memoryGauge } from '../../components/gauge.ts'
import { listing } from '../../components/listing.ts'
import { whenLoaded } from '../../components/loading.ts'
import { en, t } from '../../messages/texts.ts'
import type { TextName } from '../../messages/texts.ts'
import { call, callOpenly } from '../../state/api.ts'
import { useLoaded } from '../../state/loading.ts'
import { bdi, details, div, h2, li, p, summary, ul, view } from '../../ui/tags.ts'
import { memoryBySession } from './memory.ts'

type Checks = Readonly<Record<string, unknown>>

interface Health {
  readonly isReady: boolean
  readonly checks: Checks
}

/** A service that is not ready says so with a 503 of the same form. */
const readHealth = async (): Promise<Health> => {
  try {
    return { isReady: true, checks: (await callOpenly('getReadiness')).checks }
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

/** What a check found, in a word; null where all is well. */
const troubleOf = (found: unknown): string | null => {
  if (typeof found === 'string') return found === 'ok' || found === 'running' ? null : found
  if (!Array.isArray(found)) return null
  const bad = (found as ReadonlyArray<unknown>).filter((one) => typeof one !== 'object' || one === null
    || !('error' in one) || one.error !== null)
  if (bad.length === 0) return null
  return bad.map((one) =>
    (typeof one === 'string' ? one : ((one as Projection).projection ?? JSON.stringify(one)))).join(', ')
}

const healthOf = ({ isReady, checks }: Health): VNode =>
  div(
    null,
    p(null, isReady ? badge('good', '✓', t('health_ready')) : badge('bad', '!', t('health_unready'))),
    ul(
      { class: 'checks' },
      ...Object.entries(checks).filter(([, found]) => typeof found !== 'boolean').map(([check, found]) => {
        const trouble = troubleOf(found)
        return li({ key: check }, trouble === null ? badge('good', '✓', nameOf(check))
          : badge('bad', '!', nameOf(check)), trouble === null ? null : bdi(null, ` ${trouble}`))
      }),
    ),
  )

const STEPS_A_MINUTE = 6

const loadOf = (load: Load): VNode => {
  const count = load.sessions.length
  if (count === 0) return p({ class: 'hint' }, t('load_none'))
  const rows = load.sessions.flatMap((sessions, i) =>
    (count - 1 - i) % STEPS_A_MINUTE === 0
      ? [{ key: i, cells: [String((count - 1 - i) / STEPS_A_MINUTE),
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

const EVERY_MS = 10_000

const Overview = (): VNode => {
  const isOpen = useSignal(false)
  const { state, reload } = useLoaded(
    () => Promise.all([readHealth(), call('getCapacity'), call('getLoad', { query: { minutes: 60 } })]), '', EVERY_MS,
  )
  return whenLoaded(state.value, reload, ([health, capacity, load]) =>
    div(null, h2(null, t('health')), healthOf(health), memoryGauge('admin-memory', capacity.data),
      details({ onToggle: ({ currentTarget }) => (isOpen.value = currentTarget.open) },
        summary(null, t('memory_by_session')),
        isOpen.value ? memoryBySession({ total: capacity.data.vram_total }) : null),
      h2(null, t('load')), loadOf(load.data)))
}

export const overview = view(Overview)
