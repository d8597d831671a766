import { messageOf } from '../../domain/shared/message-of.ts'
import type { Environment, Logger } from '../ports/environment.ts'
import type { EventStore, Position, StoredEvent } from '../ports/event-store.ts'
import { createOutage } from '../outages.ts'
import { atMost, pause, retryDelay } from '../waiting.ts'
import type { Timers } from '../ports/timers.ts'

export interface FollowDeps {
  readonly store: Pick<EventStore, 'subscribe'>
  /** Events up to this position are already known. */
  readonly from: Position
  readonly logger: Logger
  readonly environment: Pick<Environment, 'random' | 'monotonic'>
  readonly timers: Timers
  readonly signal: AbortSignal
}

interface Following {
  /** Name of the follower, for log messages. */
  readonly name: string
  readonly prefixes: ReadonlyArray<string>
  /** Called for each event in the order of the log. Null: the event is damaged. If it throws, the event is repeated. */
  readonly onEvent: (stream: string, event: StoredEvent | null) => Promise<void> | void
}

export interface Follower {
  /** Resolves when the event at `position` has been received, or after 2 s. */
  readonly whenSeen: (position: Position) => Promise<void>
  /** Resolves after the signal has aborted and the last event is handled. */
  readonly stopped: Promise<void>
}

const MAX_WAIT_MS = 2000
/** Delays in milliseconds. They are short, so a user who was disabled during an outage is soon refused after it. */
const RETRY = { first: 20, longest: 500 }

/** Follows the log, to keep data in memory up to date, until the signal aborts. Retries when the log is unavailable. */
export const followLog = (deps: FollowDeps, { name, prefixes, onEvent }: Following): Follower => {
  const { store, environment, timers, signal } = deps
  const outage = createOutage(
    deps, `${name}: the subscription to the log failed, retrying`, `${name}: the log is followed again`,
  )
  const waiters = new Set<{ readonly position: Position; readonly resolve: () => void }>()
  let position = deps.from
  let attempt = 0

  const follow = async (): Promise<void> => {
    for await (const message of store.subscribe(position, prefixes, signal)) {
      if (message.kind === 'event') await onEvent(message.event.stream, message.event)
      if (message.kind === 'damaged') await onEvent(message.stream, null)
      position = message.kind === 'event' ? message.event.position : message.position
      attempt = 0
      outage.ended()
      for (const waiter of waiters) if (waiter.position <= position) waiter.resolve()
    }
  }

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await follow()
      } catch (error) {
        outage.failed(messageOf(error), { err: error })
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
