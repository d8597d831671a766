import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { AdminLiveSession } from '../../../client/operations.ts'
import { choice } from '../../components/field.ts'
import { listing, pager } from '../../components/listing.ts'
import { problem, whenLoaded } from '../../components/loading.ts'
import { isOpen, statusBadge } from '../../components/status.ts'
import { formatMoment, formatNumber, t } from '../../messages/texts.ts'
import { linkTo } from '../../state/address.ts'
import { call } from '../../state/api.ts'
import { useAction, useLoaded } from '../../state/loading.ts'
import { a, bdi, button, div, h2, p, view } from '../../ui/tags.ts'
import { timeline, type TimelineReads } from '../session/timeline-tab.ts'
import { languagesOf } from '../sessions.ts'

const STATUSES = ['active', 'pending', 'finished', 'error'] as const
type Status = (typeof STATUSES)[number]
const PAGE_SIZE = 50

/** Loads the sessions only on demand, because the log records every view of other users' sessions. */
const AllSessions = (): VNode => {
  const [skip, status] = [useSignal(0), useSignal<Status>('active')]
  const { state, reload } = useLoaded(
    () => call('listAllLives', { query: { skip: skip.value, limit: PAGE_SIZE, status: [status.value] } }),
    `${skip.value} ${status.value}`,
  )
  const { run, error } = useAction()
  const finish = async (id: number): Promise<void> => {
    await call('finishAnyLive', { path: { id } })
    reload()
  }
  const rowOf = (live: AdminLiveSession) => ({
    key: live.id,
    cells: [
      a({ href: linkTo(`administration/sessions/${live.id}`) }, String(live.id)), bdi(null, live.username),
      statusBadge(live.status), languagesOf(live),
      bdi(null, live.model.name), formatMoment(live.created_at), live.lag === null ? '–' : live.lag.toFixed(1),
      formatNumber(live.vram),
      isOpen(live)
        ? button({ type: 'button', 'aria-label': `${t('finish')}: ${live.id}`, onClick: () =>
          run(() => finish(live.id)) }, t('finish'))
        : '–',
    ],
  })
  const columns = [t('session_id'), t('owner'), t('state'), t('languages'), t('model'), t('created'), t('behind_s'),
    t('memory_mb'), t('change')]
  return div(
    null,
    div(
      { class: 'filters' },
      choice({ id: 'all-status', text: t('filter') }, status.value, STATUSES.map((name) => [name, t(`status_${name}`)]),
        (chosen) => {
        skip.value = 0
        status.value = STATUSES.find((name) => name === chosen) ?? 'active'
      }),
      button({ type: 'button', onClick: reload }, t('refresh')),
    ),
    p({ class: 'hint' }, t('look_hint')),
    problem(error.value),
    whenLoaded(state.value, reload, ({ data, pagination }) =>
      data.length === 0
        ? p({ class: 'empty' }, t('no_sessions_filtered'))
        : div(null, listing(t('admin_sessions'), columns, data.map(rowOf)),
          pager(pagination, (to) => (skip.value = to)))),
  )
}

export const allSessions = view(AllSessions)

const readsOf = (id: number): TimelineReads => ({
  history: async () => (await call('getAnyHistory', { path: { id }, query: { limit: 1000 } })).data,
  integrity: async () => (await call('getAnyIntegrity', { path: { id } })).data,
  stateAt: async (entry) => (await call('getAnyHistoryEntry', { path: { id, entry } })).data.state,
})

/** Shows the timeline of any user's session. */
export const anyTimeline = (id: number): VNode =>
  div(null, h2(null, t('session_title', { id })), timeline({ reads: readsOf(id) }))
