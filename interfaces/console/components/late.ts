import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect } from 'preact/hooks'
import { t } from '../messages/texts.ts'
import { inTwoTries } from '../state/loading.ts'
import { p, view } from '../ui/tags.ts'
import { problem } from './problem.ts'

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
