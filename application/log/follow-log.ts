import type { Environment, Logger } from '../ports/environment.ts'
import { BEGINNING } from '../ports/event-store.ts'
import type { EventStore, Position, StoredEvent } from '../ports/event-store.ts'
import { atMost, pause, retryDelay } from '../waiting.ts'
import type { Timers } from '../ports/timers.ts'

export interface FollowDeps {
  readonly store: Pick<EventStore, 'subscribe'>
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
  /** Gets all events once, in the order of the log, a batch at a time; one that it throws at comes again. */
  readonly take: (events: ReadonlyArray<StoredEvent>) => Promise<void>
}

interface Follower {
  /** Resolves once all such events of the log were taken. */
  readonly ready: () => Promise<void>
  /** Resolves once the event at `position` was taken, or after 2 s. */
  readonly whenSeen: (position: Position) => Promise<void>
  /** Resolves when the log is no longer followed, after the signal. */
  readonly stopped: Promise<void>
}

const MAX_WAIT_MS = 2000
const BATCH_SIZE = 500
/** Never long, so that what was forbidden during an outage is refused within a second of its end. */
const RETRY = { first: 20, longest: 500 }

/** Keeps what is known in memory up with the log, from its beginning until the signal; tries again when the log is away. */
export const followLog = (deps: FollowDeps, { who, prefixes, take }: Following): Follower => {
  const { store, logger, environment, timers, signal } = deps
  const caughtUp = Promise.withResolvers<void>()
  const waiters = new Set<{ readonly position: Position; readonly resolve: () => void }>()
  let position = BEGINNING
  let attempt = 0

  const pass = async (events: ReadonlyArray<StoredEvent>, passed: Position): Promise<void> => {
    await take(events)
    position = passed
    attempt = 0
    for (const waiter of waiters) if (waiter.position <= position) waiter.resolve()
  }

  const follow = async (): Promise<void> => {
    let hasCaughtUp = false
    let batch: Array<StoredEvent> = []
    for await (const message of store.subscribe(position, prefixes, signal)) {
      if (message.kind === 'event') batch.push(message.event)
      hasCaughtUp ||= message.kind === 'caught-up'
      if (!hasCaughtUp && batch.length < BATCH_SIZE) continue
      await pass(batch, message.kind === 'event' ? message.event.position : message.position)
      batch = []
      if (hasCaughtUp) caughtUp.resolve()
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

  return { ready: () => caughtUp.promise, whenSeen, stopped: run() }
}
