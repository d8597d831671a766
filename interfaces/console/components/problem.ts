import type { ComponentChildren, VNode } from 'preact'
import { t } from '../messages/texts.ts'
import { problemText, requestIdOf } from '../state/problems.ts'
import type { Loaded } from '../state/loading.ts'
import { button, div, p, span } from '../ui/tags.ts'

/** What went wrong, and what to do about it. */
export const problem = (error: unknown, retry?: () => void): VNode | null => {
  if (error === null || error === undefined) return null
  const id = requestIdOf(error)
  return div(
    { class: 'notice bad', role: 'alert' },
    p(null, span({ class: 'sign', 'aria-hidden': true }, '!'), problemText(error)),
    id === null ? null : p({ class: 'hint' }, t('request_id', { id })),
    retry === undefined ? null : button({ type: 'button', onClick: retry }, t('try_again')),
  )
}

/** What was loaded as `show` shows it; a skeleton before, the problem beside. */
export const whenLoaded = <A>(
  { data, error, isLoading }: Loaded<A>,
  retry: () => void,
  show: (data: A) => ComponentChildren,
): VNode =>
  div(
    { 'aria-busy': isLoading && data === null },
    problem(error, retry),
    data === null ? (error === null ? p({ class: 'skeleton', role: 'status' }, t('loading')) : null) : show(data),
  )

/** Where there is nothing yet: a sentence, and what can be done. */
export const empty = (text: string, ...actions: ReadonlyArray<ComponentChildren>): VNode =>
  div({ class: 'empty' }, p(null, text), div({ class: 'actions' }, ...actions))
