import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { ApiError } from '../../../client/client.ts'
import type { LiveActivity, LiveSession } from '../../../client/operations.ts'
import { modal } from '../../components/dialog.ts'
import { textField } from '../../components/field.ts'
import { emptyState, problem, whenLoaded } from '../../components/loading.ts'
import { isOpen, statusBadge } from '../../components/status.ts'
import { tabs } from '../../components/tabs.ts'
import { toast } from '../../components/toast.ts'
import { formatSpan, t } from '../../messages/texts.ts'
import { address, changeQuery, goTo, linkTo } from '../../state/address.ts'
import { call } from '../../state/api.ts'
import { type Loaded, useAction, useLoaded } from '../../state/loading.ts'
import { a, button, div, form, h1, p, span, view } from '../../ui/tags.ts'
import { captionsTab } from './captions-tab.ts'
import { detailsTab } from './details-tab.ts'
import { failure } from './failure.ts'
import { useReceivedText } from './received-text.ts'
import { shareTab } from './share-tab.ts'
import { integrity, timeline, type TimelineReads } from './timeline-tab.ts'

interface LiveProps {
  readonly live: LiveSession
  readonly activity: LiveActivity
  readonly reload: () => void
}

const Delete = ({ live, close }: { readonly live: LiveSession; readonly close: () => void }): VNode => {
  const typed = useSignal('')
  const { run, error, isRunning } = useAction()
  const remove = async (): Promise<void> => {
    await call('deleteLive', { path: { id: live.id } })
    toast(t('deleted'))
    goTo('sessions')
  }
  return modal({
    title: t('delete_title', { id: live.id }),
    close,
    closeText: t('cancel'),
    children: form(
      {
        onSubmit: (event) => {
          event.preventDefault()
          if (typed.value === String(live.id)) run(remove)
        },
      },
      p(null, t('delete_text', { id: live.id })),
      textField({ id: 'confirm', text: t('delete_field') }, typed.value, (value) => (typed.value = value),
        { autocomplete: 'off', inputMode: 'numeric' }),
      problem(error.value),
      button({ type: 'submit', class: 'danger', disabled: isRunning.value || typed.value !== String(live.id) },
        t('delete')),
    ),
  })
}

const Header = ({ live, activity, reload }: LiveProps): VNode => {
  const isDeleting = useSignal(false)
  const { run, error, isRunning } = useAction()
  const finish = async (): Promise<void> => {
    await call('finishLive', { path: { id: live.id } })
    toast(t('finished_now'))
    reload()
  }
  return div(
    null,
    div(
      { class: 'status-line' },
      statusBadge(live.status),
      activity.lag === null ? null : span(null, t('behind', { seconds: activity.lag.toFixed(1) })),
      isOpen(live) ? span(null, t('listeners', { count: activity.listeners })) : null,
      activity.sender_connected ? span(null, t('sender_connected')) : null,
      span(null, formatSpan(activity.audio_seconds)),
      isOpen(live)
        ? button({ type: 'button', disabled: isRunning.value, onClick: () => run(finish) }, t('finish'))
        : null,
      button({ type: 'button', class: 'danger', onClick: () => (isDeleting.value = true) }, t('delete_session')),
    ),
    problem(error.value),
    isDeleting.value ? view(Delete)({ live, close: () => (isDeleting.value = false) }) : null,
  )
}

const readsOf = (id: number): TimelineReads => ({
  history: async () => (await call('getHistory', { path: { id }, query: { limit: 1000 } })).data,
  integrity: async () => (await call('getIntegrity', { path: { id } })).data,
  stateAt: async (entry) => (await call('getHistoryEntry', { path: { id, entry } })).data.state,
})

const TABS = ['captions', 'share', 'timeline', 'details'] as const

const Live = (props: LiveProps): VNode => {
  const { live, activity } = props
  const received = useReceivedText(live)
  const open = TABS.find((tab) => tab === address.value.query.get('tab')) ?? 'captions'
  const panel = {
    captions: () => captionsTab({ live, activity, received: received.value }),
    share: () => shareTab({ live }),
    timeline: () => timeline({ reads: readsOf(live.id), key: live.status }),
    details: () => detailsTab({ live }),
  }[open]
  return div(
    null,
    view(Header)(props),
    live.status === 'error' ? failure({ id: live.id }) : null,
    tabs(t('session_tabs'), TABS.map((id) => ({ id, text: t(`tab_${id}`) })), open, (tab) => changeQuery({ tab }),
      panel()),
  )
}

/** Each refresh sends two requests. So an open tab sends less than one request every two seconds. */
const REFRESH_MS = 5000

const isGone = (error: unknown): boolean => error instanceof ApiError && (error.status === 404 || error.status === 422)

/** The service responds 503 when stored data cannot be read. The page then still shows the integrity check. */
const isUnreadable = ({ data, error }: Loaded<unknown>): boolean =>
  data === null && error instanceof ApiError && error.status === 503

const Session = ({ id }: { readonly id: string }): VNode => {
  const liveId = Number(id)
  const isOver = useSignal(false)
  const { state, reload } = useLoaded(
    async () => {
      if (!Number.isSafeInteger(liveId)) throw new ApiError('getLive', 404, null)
      const path = { id: liveId }
      const [live, activity] = await Promise.all([call('getLive', { path }), call('getActivity', { path })])
      isOver.value = live.data.status === 'finished' || live.data.status === 'error'
      return { live: live.data, activity: activity.data }
    },
    id, isOver.value ? 0 : REFRESH_MS,
  )
  return div(
    null,
    h1({ tabIndex: -1 }, t('session_title', { id })),
    isGone(state.value.error)
      ? emptyState(t('no_such_session', { id }), a({ href: linkTo('sessions') }, t('sessions')))
      : whenLoaded(state.value, reload, ({ live, activity }) => view(Live)({ live, activity, reload })),
    isUnreadable(state.value) ? integrity({ reads: readsOf(liveId) }) : null,
  )
}

export const sessionPage = view(Session)
