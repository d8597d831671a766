import { useSignal } from '@preact/signals'
import type { ComponentChildren, VNode } from 'preact'
import { useEffect } from 'preact/hooks'
import { t } from '../messages/texts.ts'
import { problemText, requestIdOf } from '../state/problems.ts'
import { type Loaded, withRetry } from '../state/loading.ts'
import { button, div, p, span, view } from '../ui/tags.ts'

/** Shows an error with its request id and, if given, a retry button. Null without an error. */
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

/** Shows loaded data through `show`; before that a placeholder. An error appears above the data. */
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

/** Shows a sentence and actions in place of an empty list. */
export const emptyState = (text: string, ...actions: ReadonlyArray<ComponentChildren>): VNode =>
  div({ class: 'empty' }, p(null, text), div({ class: 'actions' }, ...actions))

interface LazyProps {
  readonly load: () => Promise<unknown>
  readonly show: (module: unknown) => VNode
}

const Lazy = ({ load, show }: LazyProps): VNode | null => {
  const module = useSignal<unknown>(null)
  const error = useSignal<unknown>(null)
  useEffect(() => {
    withRetry(load).then(
      (found) => (module.value = found),
      (reason: unknown) => (error.value = reason),
    )
  }, [])
  useEffect(() => {
    // While the files of the page loaded, the focus was on the main region. It belongs on the heading.
    if (document.activeElement?.id === 'main') document.querySelector<HTMLElement>('main h1')?.focus()
  }, [module.value])
  if (module.value !== null) return show(module.value)
  return error.value === null ? p({ class: 'skeleton', role: 'status' }, t('loading'))
    : problem(error.value, () => location.reload())
}

const lazy = view(Lazy)

/** Loads a part of the console when it is first shown, so the first visit needs fewer requests. */
export const lazyPart = <M extends object>(load: () => Promise<M>, show: (module: M) => VNode): VNode =>
  lazy({ load, show: (module) => show(module as M) })
