import { useSignal } from '@preact/signals'
import type { ComponentChildren, VNode } from 'preact'
import { useEffect } from 'preact/hooks'
import { t } from '../messages/texts.ts'
import { problemText, requestIdOf } from '../state/problems.ts'
import { inTwoTries } from '../state/loading.ts'
import type { Loaded } from '../state/loading.ts'
import { button, div, p, span, view } from '../ui/tags.ts'

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

interface LateProps {
  readonly load: () => Promise<unknown>
  readonly show: (module: unknown) => VNode
}

const Late = ({ load, show }: LateProps): VNode | null => {
  const module = useSignal<unknown>(null)
  const error = useSignal<unknown>(null)
  useEffect(() => {
    inTwoTries(load).then(
      (found) => (module.value = found),
      (reason: unknown) => (error.value = reason),
    )
  }, [])
  useEffect(() => {
    // Somebody went to this page before its files were there.
    if (document.activeElement?.id === 'main') document.querySelector<HTMLElement>('main h1')?.focus()
  }, [module.value])
  if (module.value !== null) return show(module.value)
  return error.value === null ? p({ class: 'skeleton', role: 'status' }, t('loading'))
    : problem(error.value, () => location.reload())
}

const late = view(Late)

/** A part of the console whose files are loaded when it is first shown, so that a first visit is fewer requests. */
export const loadedLate = <M extends object>(load: () => Promise<M>, show: (module: M) => VNode): VNode =>
  late({ load, show: (module) => show(module as M) })
