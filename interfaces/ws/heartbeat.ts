import type { Environment } from '../../application/ports/environment.ts'
import { afterLastLook } from '../../application/waiting.ts'
import type { Timers } from '../../application/ports/timers.ts'

/** D44. */
const PING_EVERY = 25_000
const PONG_WITHIN = 10_000

export interface Heartbeat {
  readonly pong: () => void
  /** While we do not read the socket its pong cannot be seen: the time allowed for it stands still. */
  readonly reading: (paused: boolean) => void
  readonly stop: () => void
}

export interface HeartbeatOptions {
  readonly ping: () => void
  /** No pong in time. */
  readonly lost: () => void
  readonly timers: Timers
  readonly environment: Pick<Environment, 'monotonic'>
}

export const startHeartbeat = ({ ping, lost, timers, environment }: HeartbeatOptions): Heartbeat => {
  let cancelPing: () => void = () => undefined
  let cancelWait: () => void = () => undefined
  let paused = false
  /** Milliseconds left for the pong when the wait began, null when none is owed. */
  let left: number | null = null
  let since = 0

  const wait = (): void => {
    if (left === null || paused) return
    since = environment.monotonic()
    cancelWait = afterLastLook(timers, left, lost)
  }

  const schedule = (): void => {
    cancelPing = timers.after(PING_EVERY, () => {
      ping()
      if (left === null) {
        left = PONG_WITHIN
        wait()
      }
      schedule()
    })
  }
  schedule()

  return {
    pong: () => {
      left = null
      cancelWait()
    },
    reading: (nowPaused) => {
      if (paused === nowPaused) return
      paused = nowPaused
      if (!paused) return wait()
      cancelWait()
      if (left !== null) left = Math.max(0, left - (environment.monotonic() - since))
    },
    stop: () => {
      cancelPing()
      cancelWait()
    },
  }
}
