import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { LiveSession } from '../../client/operations.ts'
import { choice, textField } from '../components/field.ts'
import { listing, pager } from '../components/listing.ts'
import { emptyState, whenLoaded } from '../components/loading.ts'
import { statusBadge } from '../components/status.ts'
import { formatMoment, formatNumber, formatSpan, t } from '../messages/texts.ts'
import { changeQuery, goTo, linkTo } from '../state/address.ts'
import { call } from '../state/api.ts'
import { useLoaded } from '../state/loading.ts'
import { a, bdi, button, div, form, h1, view } from '../ui/tags.ts'

type Status = LiveSession['status']
const STATUSES: ReadonlyArray<Status> = ['pending', 'active', 'finished', 'error']

const hostOf = (url: string | null): string => (url === null ? '' : (URL.parse(url)?.host ?? ''))

type Sourced = Pick<LiveSession, 'audio_format' | 'audio_url'>

/** Describes the source of the audio. Of a URL it shows only the host, because the rest may contain secrets. */
export const sourceOf = ({ audio_format: format, audio_url: url }: Sourced): string =>
  format === 'raw' ? t('source_raw') : `${format} ${hostOf(url)}`

export const languagesOf = ({ language, translations }: Pick<LiveSession, 'language' | 'translations'>): string =>
  [language.iso_639_1, ...(translations.length > 0
    ? ['→', ...new Set(translations.map(({ lang_to: to }) => to.iso_639_1))] : [])].join(' ')

const lengthOf = ({ status, created_at: from, updated_at: to }: LiveSession): string => {
  const end = status === 'finished' || status === 'error' ? Date.parse(to ?? from) : Date.now()
  return formatSpan(Math.max(0, (end - Date.parse(from)) / 1000))
}

const rowOf = (live: LiveSession) => ({
  key: live.id,
  cells: [
    a({ href: linkTo(`sessions/${live.id}`) }, String(live.id)), statusBadge(live.status), bdi(null, sourceOf(live)),
    languagesOf(live),
    bdi(null, live.model.name), formatMoment(live.created_at), lengthOf(live), formatNumber(live.vram),
  ],
})

interface SessionsProps {
  readonly status: Status | null
  readonly skip: number
  readonly limit: number
}

const GoToSession = (): VNode => {
  const id = useSignal('')
  return form(
    {
      class: 'filters',
      onSubmit: (event) => {
        event.preventDefault()
        if (id.value.trim() !== '') goTo(`sessions/${encodeURIComponent(id.value.trim())}`)
      },
    },
    textField({ id: 'find', text: t('find') }, id.value, (value) => (id.value = value),
      { inputMode: 'numeric', 'data-key': '/', size: 8 }),
    button({ type: 'submit' }, t('find_button')),
  )
}

/** Numbers of sessions on a page. */
const SIZES = ['25', '50', '100']
const REFRESH_MS = 5000

const Sessions = ({ status, skip, limit }: SessionsProps): VNode => {
  const { state, reload } = useLoaded(
    () => call('listLives', { query: { skip, limit, ...(status !== null && { status: [status] }) } }),
    `${status} ${skip} ${limit}`, REFRESH_MS,
  )
  const columns = [t('session_id'), t('state'), t('source'), t('languages'), t('model'), t('created'), t('length'),
    t('memory_mb')]
  return div(
    null,
    h1({ tabIndex: -1 }, t('sessions')),
    div(
      { class: 'filters' },
      choice(
        { id: 'status', text: t('filter') }, status ?? '',
        [['', t('all')], ...STATUSES.map((name) => [name, t(`status_${name}`)] as const)],
        (chosen) => changeQuery({ status: chosen === '' ? null : chosen, skip: null }),
      ),
      choice({ id: 'limit', text: t('per_page') }, String(limit), SIZES.map((size) => [size, size]), (size) =>
        changeQuery({ limit: size, skip: null })),
      view(GoToSession)({}),
    ),
    whenLoaded(state.value, reload, ({ data, pagination }) =>
      div(
        null,
        data.length === 0
          ? emptyState(
            t(status === null ? 'no_sessions' : 'no_sessions_filtered'),
            a({ href: linkTo('speak') }, t('speak')),
          )
          : listing(t('sessions'), columns, data.map(rowOf)),
        pager(pagination, (to) => changeQuery({ skip: to })),
      )),
  )
}

const sessions = view(Sessions)

const numberIn = (query: URLSearchParams, name: string, fallback: number): number => {
  const value = Number(query.get(name) ?? fallback)
  return Number.isSafeInteger(value) && value >= 0 ? value : fallback
}

export const sessionsPage = (query: URLSearchParams): VNode =>
  sessions({
    status: STATUSES.find((name) => name === query.get('status')) ?? null,
    skip: numberIn(query, 'skip', 0),
    limit: SIZES.includes(query.get('limit') ?? '') ? numberIn(query, 'limit', 25) : 25,
  })
