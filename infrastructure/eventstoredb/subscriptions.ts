import {
  eventTypeFilter, streamNameFilter, type AllStreamResolvedEvent, type EventStoreDBClient,
} from '@eventstore/db-client'
import * as E from 'fp-ts/lib/Either.js'
import { createSlots } from '../../application/concurrency.ts'
import type {
  EventStore, LogCorrupted, OlderLog, Position, StoreUnavailable, SubscriptionMessage,
} from '../../application/ports/event-store.ts'
import { reasonOf, unavailable } from './failures.ts'
import type { Connected } from './leader.ts'
import { startTimeout, TimedOut, type CallTimeouts } from './call-timeouts.ts'
import { toPosition } from './positions.ts'
import { isSamePoint, resumePointOf, type ResumePoint } from './resume-point.ts'
import { toStoredEvent } from './stored-event.ts'

const failure = (cause: StoreUnavailable | LogCorrupted | OlderLog): Error =>
  new Error(`the subscription ended: ${cause.reason}`, { cause })

/** A message of the server between two events. A position stands for a checkpoint. */
interface Mark {
  /** Number of events that the server sent before this message. */
  readonly eventsBefore: number
  readonly mark: Position | 'confirmed' | 'caught-up'
}

/** A message of a subscription. */
type Received = AllStreamResolvedEvent | Mark['mark']

/** Filter for the empty prefix. It excludes the server's own events, whose types start with `$`. */
const NO_SYSTEM_EVENTS = '^[^$]'

interface FeedOptions {
  readonly client: EventStoreDBClient
  /** Aborts when everything that runs on the client must end. */
  readonly lost: AbortSignal
  readonly confirmationMs: number
  readonly prefixes: ReadonlyArray<string>
}

/**
 * Subscribes with the client and restores the server's order of messages. The consumer pulls events, but the messages
 * between them (marks) arrive through callbacks, too early for a slow consumer. So each mark waits until the consumer
 * has taken all events before it. Their number is known when the mark arrives: the events taken so far, plus the events
 * in the client's buffer.
 */
const openFeed = ({ client, lost, confirmationMs, prefixes }: FeedOptions, point: ResumePoint) => {
  const marks: Mark[] = []
  let taken = 0
  let failed: Error | null = null
  let wake: () => void = () => undefined
  const addMark = (mark: Mark['mark']): void => {
    marks.push({ eventsBefore: taken + subscription.readableLength, mark })
    wake()
  }
  const fail = (error: Error): void => {
    failed ??= error
    wake()
  }
  const checkpointReached = (_: unknown, position: Parameters<typeof toPosition>[0]): void =>
    addMark(toPosition(position))
  const checkpoints = { checkpointInterval: 1, checkpointReached }
  const subscription = client.subscribeToAll({
    requiresLeader: true,
    fromPosition: point,
    filter: prefixes.includes('')
      ? eventTypeFilter({ regex: NO_SYSTEM_EVENTS, ...checkpoints })
      : streamNameFilter({ prefixes: [...prefixes], ...checkpoints }),
  })
  // The server checks its role only when a subscription starts. A running subscription would stay on a deposed leader.
  const onLost = (): void => fail(new Error('the node is no longer the leader'))
  if (lost.aborted) onLost()
  lost.addEventListener('abort', onLost)
  const timeout = startTimeout(confirmationMs, () => fail(new TimedOut(confirmationMs)))
  subscription
    .on('confirmation', () => {
      timeout.stop()
      addMark('confirmed')
    })
    .on('caughtUp', () => addMark('caught-up'))
    .on('readable', () => wake())
    .on('end', () => fail(new Error('the server ended the subscription')))
    // This listener stays after the end, because an unhandled late error would end the process.
    .on('error', fail)

  const next = (): Received | null => {
    const [first] = marks
    if (first !== undefined && first.eventsBefore <= taken) {
      marks.shift()
      return first.mark
    }
    const event = subscription.read() as AllStreamResolvedEvent | null
    if (event !== null) taken += 1
    return event
  }

  return {
    next,
    failed: () => failed,
    /** Resolves when there may be a message or a failure, or when `signal` aborts. */
    more: (signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        wake = () => {
          signal.removeEventListener('abort', wake)
          resolve()
        }
        signal.addEventListener('abort', wake)
      }),
    end: () => {
      timeout.stop()
      lost.removeEventListener('abort', onLost)
      // Destroying the client's stream would not end the call on the server.
      subscription.unsubscribe().catch(() => undefined)
    },
  }
}

type Feed = ReturnType<typeof openFeed>

interface SubscriptionParts {
  readonly connected: Connected
  readonly timeouts: CallTimeouts
  readonly head: EventStore['head']
}

/** Subscriptions that may start at the same time. A newly elected leader stalled for seconds when 14 did so. */
const MAX_STARTING = 2

/**
 * Creates the subscription of the port: an async iterator that throws on a failure. The consumer then subscribes again
 * from its own position. Each subscription starts one record before its position and drops events up to the position.
 *
 * A scavenge (the server's cleanup) may remove that record before the subscription starts. So the record is read again
 * after the server has confirmed the subscription. If it is the same record, it existed at the start, because removed
 * records never return. Otherwise the subscription starts again.
 */
export const createSubscriptions = ({ connected, timeouts, head }: SubscriptionParts): EventStore['subscribe'] => {
  const inSlot = createSlots(MAX_STARTING)

  const untilConfirmed = async (feed: Feed, signal: AbortSignal): Promise<void> => {
    while (!signal.aborted && feed.next() !== 'confirmed') {
      const error = feed.failed()
      if (error !== null) throw failure(unavailable(reasonOf(error)))
      await feed.more(signal)
    }
  }

  /** Returns a confirmed subscription from the right record; null: the signal aborted first. */
  const start = async (from: Position, prefixes: ReadonlyArray<string>, signal: AbortSignal): Promise<Feed | null> => {
    if (signal.aborted) return null
    const [client, lost] = [connected.client(), connected.lost()]
    const resumePoint = async (): Promise<ResumePoint> => {
      const point = await resumePointOf({ client, lost, timeouts, head }, from)
      if (E.isLeft(point)) throw failure(point.left)
      return point.right
    }
    let point = await resumePoint()
    for (;;) {
      const feed = openFeed({ client, lost, confirmationMs: timeouts.confirmation, prefixes }, point)
      try {
        await untilConfirmed(feed, signal)
        const pointNow = signal.aborted ? point : await resumePoint()
        if (isSamePoint(point, pointNow)) return feed
        point = pointNow
      } catch (error) {
        feed.end()
        throw error
      }
      feed.end()
    }
  }

  return async function* (from, prefixes, signal): AsyncGenerator<SubscriptionMessage, void> {
    let position = from

    /** Returns the message for the consumer; null when the consumer already knows its position. */
    const toMessage = (received: Exclude<Received, 'confirmed'>): SubscriptionMessage | null => {
      if (received === 'caught-up') return { kind: 'caught-up', position }
      if (typeof received === 'string') {
        if (received <= position) return null
        position = received
        return { kind: 'checkpoint', position }
      }
      const eventPosition = received.event?.position
      if (eventPosition !== undefined && toPosition(eventPosition) <= position) return null
      const stored = toStoredEvent(received.event)
      if (E.isLeft(stored)) throw failure(stored.left)
      position = stored.right.position
      return { kind: 'event', event: stored.right }
    }

    const feed = await inSlot(() => start(from, prefixes, signal))
    if (feed === null) return
    try {
      while (!signal.aborted) {
        const received = feed.next()
        if (received === null) {
          const error = feed.failed()
          if (error !== null) throw failure(unavailable(reasonOf(error)))
          await feed.more(signal)
        } else if (received !== 'confirmed') {
          const message = toMessage(received)
          if (message !== null) yield message
        }
      }
    } finally {
      feed.end()
    }
  }
}
