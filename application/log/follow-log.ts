import type { Environment, Logger } from '../ports/environment.ts'
import type { EventStore, Position, StoredEvent } from '../ports/event-store.ts'
import { atMost, pause, retryDelay } from '../waiting.ts'
import type { Timers } from '../ports/timers.ts'

export interface FollowDeps {
  readonly store: Pick<EventStore, 'subscribe'>
  /** What happened up to here is known already. */
  readonly from: Position
  readonly logger: Logger
  readonly environment: Pick<Environment, 'random'>
  readonly timers: Timers
  readonly signal: AbortSignal
}

interface Following {
  /** For the log. */
  readonly who: string
  /** Of the streams whose events matter. */
  readonly prefixes: ReadonlyArray<string>
  /** Hears of all events once, in the order of the log; null where one is damaged. One that it throws at comes again. */
  readonly hear: (stream: string, event: StoredEvent | null) => Promise<void> | void
}

export interface Follower {
  /** Resolves once the event at `position` was heard of, or after 2 s. */
  readonly whenSeen: (position: Position) => Promise<void>
  /** Resolves when the log is no longer followed, after the signal. */
  readonly stopped: Promise<void>
}

const MAX_WAIT_MS = 2000
/** Never long, so that what was forbidden during an outage is refused within a second of its end. */
const RETRY = { first: 20, longest: 500 }

/** Keeps what is known in memory up with the log until the signal; tries again when the log is away. */
export const followLog = (deps: FollowDeps, { who, prefixes, hear }: Following): Follower => {
  const { store, logger, environment, timers, signal } = deps
  const waiters = new Set<{ readonly position: Position; readonly resolve: () => void }>()
  let position = deps.from
  let attempt = 0

  const follow = async (): Promise<void> => {
    for await (const message of store.subscribe(position, prefixes, signal)) {
      if (message.kind === 'event') await hear(message.event.stream, message.event)
      if (message.kind === 'damaged') await hear(message.stream, null)
      position = message.kind === 'event' ? message.event.position : message.position
      attempt = 0
      for (const waiter of waiters) if (waiter.position <= position) waiter.resolve()
    }
  }

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await follow()
      } catch (error) {
        logger.warn({ attempt, err: error }, `${who} lost the log and tries again`)
      }
      await pause(timers, retryDelay(RETRY, attempt++, environment.random()), signal)
    }
  }

  const whenSeen = async (wanted: Position): Promise<void> => {
    if (wanted <= position) return
    const seen = Promise.withResolvers<void>()
    const waiter = { position: wanted, resolve: seen.resolve }
    waiters.add(waiter)
    await atMost(timers, MAX_WAIT_MS, seen.promise)
    waiters.delete(waiter)
  }

  return { whenSeen, stopped: run() }
}
