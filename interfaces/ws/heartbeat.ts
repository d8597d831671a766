import type { Environment } from '../../application/ports/environment.ts'
import { afterTimeout } from '../../application/waiting.ts'
import type { Timers } from '../../application/ports/timers.ts'

const PING_EVERY_MS = 25_000
const PONG_WITHIN_MS = 10_000

export interface Heartbeat {
  readonly pong: () => void
  /** Stops the pong timeout while the socket is paused, because a pong is not read then. */
  readonly setPaused: (isPaused: boolean) => void
  readonly stop: () => void
}

export interface HeartbeatOptions {
  readonly ping: () => void
  /** Called when no pong came in time. */
  readonly lost: () => void
  readonly timers: Timers
  readonly environment: Pick<Environment, 'monotonic'>
}

/** Pings the peer regularly, and calls `lost` when a pong does not come in time. */
export const startHeartbeat = ({ ping, lost, timers, environment }: HeartbeatOptions): Heartbeat => {
  let cancelPing: () => void = () => undefined
  let cancelWait: () => void = () => undefined
  let isPaused = false
  /** Milliseconds that remained for the pong when the wait began. Null when no pong is expected. */
  let remainingMs: number | null = null
  let waitingSince = 0

  const wait = (): void => {
    if (remainingMs === null || isPaused) return
    waitingSince = environment.monotonic()
    cancelWait = afterTimeout(timers, remainingMs, lost)
  }

  const schedule = (): void => {
    cancelPing = timers.after(PING_EVERY_MS, () => {
      ping()
      if (remainingMs === null) {
        remainingMs = PONG_WITHIN_MS
        wait()
      }
      schedule()
    })
  }
  schedule()

  return {
    pong: () => {
      remainingMs = null
      cancelWait()
    },
    setPaused: (paused) => {
      if (isPaused === paused) return
      isPaused = paused
      if (!isPaused) return wait()
      cancelWait()
      if (remainingMs !== null) remainingMs = Math.max(0, remainingMs - (environment.monotonic() - waitingSince))
    },
    stop: () => {
      cancelPing()
      cancelWait()
    },
  }
}
