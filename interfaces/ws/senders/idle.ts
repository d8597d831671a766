import { afterTimeout } from '../../../application/waiting.ts'
import type { Timers } from '../../../application/ports/timers.ts'

interface IdleOptions {
  /** Milliseconds. 0 switches the timeout off. */
  readonly limit: number
  readonly monotonic: () => number
  readonly timers: Timers
  /** True while we do not read the socket. This time does not count as idle. */
  readonly isPaused: () => boolean
  readonly expired: () => void
}

/** Calls `expired` when a sender sends nothing for too long. */
export interface IdleWatch {
  /** Starts the timeout. Further calls have no effect. */
  readonly begin: () => void
  /** Restarts the timeout, for a frame. */
  readonly onFrame: () => void
  readonly stop: () => void
}

export const createIdleWatch = ({ limit, monotonic, timers, isPaused, expired }: IdleOptions): IdleWatch => {
  let lastFrameAt = 0
  let state: 'waiting' | 'watching' | 'stopped' = limit === 0 ? 'stopped' : 'waiting'
  let cancel: () => void = () => undefined

  const wait = (ms: number): void => {
    cancel = afterTimeout(timers, ms, check)
  }

  // One timer checks the time of the last frame. A timer for each of a hundred frames a second would be expensive.
  const check = (): void => {
    if (isPaused()) lastFrameAt = monotonic()
    const remainingMs = lastFrameAt + limit - monotonic()
    if (remainingMs > 0) wait(remainingMs)
    else expired()
  }

  return {
    begin: () => {
      if (state !== 'waiting') return
      state = 'watching'
      lastFrameAt = monotonic()
      wait(limit)
    },
    onFrame: () => {
      lastFrameAt = monotonic()
    },
    stop: () => {
      state = 'stopped'
      cancel()
    },
  }
}
