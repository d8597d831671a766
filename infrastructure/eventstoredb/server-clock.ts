import type { Timers } from '../../application/ports/timers.ts'
import { pause } from '../../application/waiting.ts'
import type { Leader } from './leader.ts'
import type { AskTime } from './nodes/gossip.ts'

/** Milliseconds between two questions for the time. */
const INTERVAL_MS = 10_000

interface Parts {
  readonly leader: Pick<Leader, 'address'>
  readonly askTime: AskTime
  readonly timers: Timers
  /** Returns the milliseconds of a monotonic clock. */
  readonly monotonic: () => number
}

export interface ServerClock {
  /**
   * The time of the leader, in milliseconds since 1970. It is up to two seconds late: the header has whole seconds, and
   * a server renews it once a second. So no event looks older than it is.
   */
  readonly now: () => number
  /** Resolves when the signal has aborted. */
  readonly stopped: Promise<void>
}

/**
 * Follows the clock of the leader, which stamps the events. Between two answers, the monotonic clock of this process
 * counts. Resolves after the first answer, or when none comes. Until there is one, the clock of this machine counts.
 */
export const followServerClock = async (
  { leader, askTime, timers, monotonic }: Parts, signal: AbortSignal,
): Promise<ServerClock> => {
  let offset = Date.now() - monotonic()
  const ask = async (): Promise<void> => {
    const address = leader.address()
    const time = address === null ? null : await askTime(address)
    if (time !== null) offset = time - monotonic()
  }
  const keepAsking = async (): Promise<void> => {
    while (!signal.aborted) {
      await pause(timers, INTERVAL_MS, signal)
      if (!signal.aborted) await ask()
    }
  }
  await ask()
  return { now: () => Math.floor(monotonic() + offset), stopped: keepAsking() }
}
