import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

/** The state of data that the service returns. */
export interface Loaded<A> {
  /** The last result. It stays while a newer one loads. */
  readonly data: A | null
  readonly error: unknown
  readonly isLoading: boolean
}

export interface Loading<A> {
  readonly state: Signal<Loaded<A>>
  readonly reload: () => void
}

const RETRY_MS = 1000

/** Loads files of the console and retries once, for example after a refusal of too many requests. */
export const withRetry = async <A>(load: () => Promise<A>): Promise<A> => {
  try {
    return await load()
  } catch {
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    return load()
  }
}

/**
 * Loads data when the component appears and when `key` changes. Repeats every `intervalMs` while the tab is visible;
 * 0 loads once.
 */
export const useLoaded = <A>(load: () => Promise<A>, key: string, intervalMs = 0): Loading<A> => {
  const state = useSignal<Loaded<A>>({ data: null, error: null, isLoading: true })
  const reloads = useSignal(0)
  const loadOnce = async (isCurrent: () => boolean): Promise<void> => {
    state.value = { ...state.peek(), isLoading: true }
    try {
      const data = await load()
      if (isCurrent()) state.value = { data, error: null, isLoading: false }
    } catch (error) {
      if (isCurrent()) state.value = { ...state.peek(), error, isLoading: false }
    }
  }
  useEffect(() => {
    let isActive = true
    let timer: ReturnType<typeof setTimeout> | undefined
    const schedule = (): void => {
      if (isActive && intervalMs > 0) timer = setTimeout(() => void repeat(), intervalMs)
    }
    const repeat = async (): Promise<void> => {
      if (document.visibilityState === 'visible') await loadOnce(() => isActive)
      schedule()
    }
    void loadOnce(() => isActive).then(schedule)
    return () => {
      isActive = false
      clearTimeout(timer)
    }
  }, [key, intervalMs, reloads.value])
  return { state, reload: () => (reloads.value += 1) }
}

/** Runs the action of a button and shows its state. A second click during the action does nothing. */
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
