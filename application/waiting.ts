import type { Timers } from './ports/timers.ts'

/** Resolves after `ms`, or at once when `signal` aborts. */
export const pause = async (timers: Timers, ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted === true) return resolve()
    const stop = (): void => {
      cancel()
      resolve()
    }
    const cancel = timers.after(ms, () => {
      signal?.removeEventListener('abort', stop)
      resolve()
    })
    signal?.addEventListener('abort', stop, { once: true })
  })

/** Resolves when `work` has settled or `ms` have passed, whichever comes first; a rejection of `work` passes through. */
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

/** The last part of a wait for something to arrive. */
const LAST_LOOK = 1000

/**
 * Runs `task` once, `ms` milliseconds from now, for want of something that should have arrived. When this process stood still a
 * late timer comes before what arrived meanwhile: the last second begins anew then, so that this is read first (F19).
 */
export const afterLastLook = (timers: Timers, ms: number, task: () => void): (() => void) => {
  const last = Math.min(ms, LAST_LOOK)
  let cancel = timers.after(ms - last, () => {
    cancel = timers.after(last, task)
  })
  return () => cancel()
}

/** Parts of a wait that only counts while this process runs. */
const STEP = 1000

/** Runs `task` once, when this process has run for `ms` milliseconds from now: of a time that it stood still a second counts at most. */
export const afterRunning = (timers: Timers, ms: number, task: () => void): (() => void) => {
  const step = Math.min(ms, STEP)
  let cancel = timers.after(step, () => {
    if (ms > step) cancel = afterRunning(timers, ms - step, task)
    else task()
  })
  return () => cancel()
}

/** Milliseconds before the first attempt after a failure, and at most. */
interface BackOff {
  readonly first: number
  readonly longest: number
}

/** Milliseconds before attempt `n` (from 0) after failures: doubling, half of it at random. `random` lies between 0 and 1. */
export const retryDelay = ({ first, longest }: BackOff, attempt: number, random: number): number =>
  Math.min(longest, first * 2 ** attempt) * (0.5 + random / 2)

/** Waits that can be cut short. */
export interface Bell {
  /** Ends the wait, or else the next one. */
  readonly ring: () => void
  /** True: it was rung for. */
  readonly wait: (ms: number) => Promise<boolean>
}

export const createBell = (timers: Timers): Bell => {
  let rung = new AbortController()
  return {
    ring: () => rung.abort(),
    wait: async (ms) => {
      const { signal } = rung
      await pause(timers, ms, signal)
      if (signal.aborted) rung = new AbortController()
      return signal.aborted
    },
  }
}
