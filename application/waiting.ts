import type { Timers } from './ports/timers.ts'

/** Resolves after `ms` milliseconds, or when `signal` aborts. Infinity: only when it aborts. */
export const pause = async (timers: Timers, ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted === true) return resolve()
    const stop = (): void => {
      cancel()
      resolve()
    }
    const elapsed = (): void => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }
    const cancel = ms === Infinity ? () => undefined : timers.after(ms, elapsed)
    signal?.addEventListener('abort', stop, { once: true })
  })

/** Resolves when `work` is done or after `ms` milliseconds, whichever comes first. Rejects when `work` rejects. */
export const atMost = async (timers: Timers, ms: number, work: Promise<unknown>): Promise<void> => {
  let cancel: () => void = () => undefined
  const limit = new Promise<void>((resolve) => {
    cancel = timers.after(ms, resolve)
  })
  try {
    await Promise.race([work, limit])
  } finally {
    cancel()
  }
}

/** The last part of a timeout, which is a separate timer. */
const LAST_PART_MS = 1000

/**
 * Runs `task` after `ms` milliseconds. The caller cancels it when the awaited input arrives. After a pause of this
 * process, overdue timers run before received input is read. A single timer would then run `task` although the input
 * has arrived. So the last second has a separate timer, which leaves time to read the input.
 */
export const afterTimeout = (timers: Timers, ms: number, task: () => void): (() => void) => {
  const last = Math.min(ms, LAST_PART_MS)
  let cancel = timers.after(ms - last, () => {
    cancel = timers.after(last, task)
  })
  return () => cancel()
}

/** `afterRunning` waits in steps of this length, so a pause of the process delays only one step. */
const STEP_MS = 1000

/**
 * Runs `task` after this process has run for `ms` milliseconds. A pause of the process counts as at most one second.
 */
export const afterRunning = (timers: Timers, ms: number, task: () => void): (() => void) => {
  const step = Math.min(ms, STEP_MS)
  let cancel = timers.after(step, () => {
    if (ms > step) cancel = afterRunning(timers, ms - step, task)
    else task()
  })
  return () => cancel()
}

/** Delays before a retry, in milliseconds. */
interface BackOff {
  readonly first: number
  readonly longest: number
}

/**
 * Returns the milliseconds before a retry. The delay doubles with each attempt (from 0), and half of it is random.
 * `random`: from 0 to 1.
 */
export const retryDelay = ({ first, longest }: BackOff, attempt: number, random: number): number =>
  Math.min(longest, first * 2 ** attempt) * (0.5 + random / 2)

/** A pause that can be ended early. */
export interface WakeUp {
  /** Ends the present pause, or the next pause if none is running. */
  readonly wake: () => void
  /** Resolves to true when `wake` ended the pause. */
  readonly wait: (ms: number) => Promise<boolean>
}

export const createWakeUp = (timers: Timers): WakeUp => {
  let waking = new AbortController()
  return {
    wake: () => waking.abort(),
    wait: async (ms) => {
      const { signal } = waking
      await pause(timers, ms, signal)
      if (signal.aborted) waking = new AbortController()
      return signal.aborted
    },
  }
}
