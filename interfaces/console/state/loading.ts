import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Signal } from '@preact/signals'

/** Something that the service tells, as far as it is known. */
export interface Loaded<A> {
  /** What came last; it stays while newer is asked for. */
  readonly data: A | null
  readonly error: unknown
  readonly isLoading: boolean
}

export interface Loading<A> {
  readonly state: Signal<Loaded<A>>
  readonly reload: () => void
}

const BEFORE_AGAIN_MS = 1000

/** Loads files of the console; what did not come, as where too many were asked for at once, is asked for once more. */
export const inTwoTries = async <A>(load: () => Promise<A>): Promise<A> => {
  try {
    return await load()
  } catch {
    await new Promise((resolve) => setTimeout(resolve, BEFORE_AGAIN_MS))
    return load()
  }
}

/** Asks when the component appears and when `key` changes, then every `every` ms while the tab is seen; 0 is once. */
export const useLoaded = <A>(load: () => Promise<A>, key: string, every = 0): Loading<A> => {
  const state = useSignal<Loaded<A>>({ data: null, error: null, isLoading: true })
  const asked = useSignal(0)
  const ask = async (isCurrent: () => boolean): Promise<void> => {
    state.value = { ...state.peek(), isLoading: true }
    try {
      const data = await load()
      if (isCurrent()) state.value = { data, error: null, isLoading: false }
    } catch (error) {
      if (isCurrent()) state.value = { ...state.peek(), error, isLoading: false }
    }
  }
  useEffect(() => {
    let current = true
    let timer: ReturnType<typeof setTimeout> | undefined
    const round = async (): Promise<void> => {
      if (document.visibilityState === 'visible') await ask(() => current)
      if (current && every > 0) timer = setTimeout(() => void round(), every)
    }
    void ask(() => current).then(() => {
      if (current && every > 0) timer = setTimeout(() => void round(), every)
    })
    return () => {
      current = false
      clearTimeout(timer)
    }
  }, [key, every, asked.value])
  return { state, reload: () => (asked.value += 1) }
}

/** Something that was asked for by a button: what became of it. */
export const useAction = (): {
  readonly isRunning: Signal<boolean>
  readonly error: Signal<unknown>
  readonly run: (act: () => Promise<unknown>) => void
} => {
  const isRunning = useSignal(false)
  const error = useSignal<unknown>(null)
  const run = (act: () => Promise<unknown>): void => {
    if (isRunning.peek()) return
    isRunning.value = true
    error.value = null
    act()
      .catch((reason: unknown) => {
        error.value = reason
      })
      .finally(() => {
        isRunning.value = false
      })
  }
  return { isRunning, error, run }
}
