import type { VNode } from 'preact'
import { whenLoaded } from '../../components/loading.ts'
import { t } from '../../messages/texts.ts'
import { linkTo } from '../../state/address.ts'
import { call } from '../../state/api.ts'
import { useLoaded } from '../../state/loading.ts'
import { a, bdi, code, div, p, span, view } from '../../ui/tags.ts'
import { textOrEmpty } from './timeline-tab.ts'

interface FailureProps {
  readonly id: number
}

/** Shows why a session failed: code and detail of its event LiveFailed. */
const Failure = ({ id }: FailureProps): VNode => {
  const { state, reload } = useLoaded(
    async () => (await call('getHistory', { path: { id }, query: { limit: 1000 } })).data, String(id),
  )
  return whenLoaded(state.value, reload, (entries) => {
    const data = entries.findLast(({ type }) => type === 'LiveFailed')?.data ?? {}
    return div(
      { class: 'notice bad' },
      p(null, span({ class: 'sign', 'aria-hidden': true }, '!'), t('session_failed'), ' ',
        code(null, textOrEmpty(data['code']))),
      p(null, bdi(null, textOrEmpty(data['detail']))),
      p(null, a({ href: linkTo('speak') }, t('new_session'))),
    )
  })
}

export const failure = view(Failure)
