import { afterLastLook } from '../../../application/waiting.ts'
import type { Timers } from '../../../application/ports/timers.ts'

interface IdleOptions {
  /** Milliseconds; 0 is never. */
  readonly limit: number
  readonly monotonic: () => number
  readonly timers: Timers
  /** We do not read, so nothing can be heard. */
  readonly isPaused: () => boolean
  readonly expired: () => void
}

/** Tells when nothing was heard for too long (D46), from `begin` on. */
export interface IdleWatch {
  /** Repeats are ignored. */
  readonly begin: () => void
  readonly heard: () => void
  readonly stop: () => void
}

/** Of Node's timers. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export const createIdleWatch = ({ limit, monotonic, timers, isPaused, expired }: IdleOptions): IdleWatch => {
  let last = 0
  let state: 'waiting' | 'watching' | 'stopped' = limit === 0 ? 'stopped' : 'waiting'
  let cancel: () => void = () => undefined

  const wait = (ms: number): void => {
    cancel = afterLastLook(timers, Math.min(ms, LONGEST_TIMER_MS), check)
  }

  // One timer, not one for each of a hundred frames a second: it looks when the last one came.
  const check = (): void => {
    if (isPaused()) last = monotonic()
    const left = last + limit - monotonic()
    if (left > 0) wait(left)
    else expired()
  }

  return {
    begin: () => {
      if (state !== 'waiting') return
      state = 'watching'
      last = monotonic()
      wait(limit)
    },
    heard: () => {
      last = monotonic()
    },
    stop: () => {
      state = 'stopped'
      cancel()
    },
  }
}
