import { eventTypeFilter, streamNameFilter, type AllStreamResolvedEvent, type EventStoreDBClient } from '@eventstore/db-client'
import * as E from 'fp-ts/lib/Either.js'
import { createSlots } from '../../application/at-once.ts'
import type { EventStore, LogCorrupted, OlderLog, Position, StoreUnavailable, SubscriptionMessage } from '../../application/ports/event-store.ts'
import { reasonOf, unavailable } from './failures.ts'
import type { Connected } from './leader.ts'
import { startAlarm, TimedOut, type Patience } from './patience.ts'
import { toPosition } from './positions.ts'
import { isSamePoint, resumePointOf, type ResumePoint } from './resume-point.ts'
import { toStoredEvent } from './stored-event.ts'

const failure = (cause: StoreUnavailable | LogCorrupted | OlderLog): Error => new Error(`the subscription ended: ${cause.reason}`, { cause })

/** Something that the server said between two events. */
interface Mark {
  /** Number of events that were sent before it. */
  readonly after: number
  readonly mark: Position | 'confirmed' | 'caught-up'
}

/** What a subscription of the client says, in the order in which the server said it. */
type Said = AllStreamResolvedEvent | Mark['mark']

/** For the empty prefix: the server's own events are in no stream of ours. */
const NOT_THE_SERVERS = '^[^$]'

interface Begun {
  readonly client: EventStoreDBClient
  /** Aborts when what runs on the client is to end. */
  readonly lost: AbortSignal
  readonly confirmationMs: number
  readonly prefixes: ReadonlyArray<string>
}

/**
 * Subscribes with the client, whose events are pulled while what lies between them arrives through callbacks, ahead of a
 * consumer that is slow. Each such mark is therefore kept until the events before it are taken: those taken so far and
 * those that still wait in the client's buffer.
 */
const follow = ({ client, lost, confirmationMs, prefixes }: Begun, point: ResumePoint) => {
  const marks: Mark[] = []
  let taken = 0
  let failed: Error | null = null
  let wake: () => void = () => undefined
  const say = (mark: Mark['mark']): void => {
    marks.push({ after: taken + subscription.readableLength, mark })
    wake()
  }
  const fail = (error: Error): void => {
    failed ??= error
    wake()
  }
  const checkpoints = { checkpointInterval: 1, checkpointReached: (_: unknown, position: Parameters<typeof toPosition>[0]) => say(toPosition(position)) }
  const subscription = client.subscribeToAll({
    requiresLeader: true,
    fromPosition: point,
    filter: prefixes.includes('')
      ? eventTypeFilter({ regex: NOT_THE_SERVERS, ...checkpoints })
      : streamNameFilter({ prefixes: [...prefixes], ...checkpoints }),
  })
  // The server asks who leads only when a subscription begins: a running one stays on whom it began with.
  const leave = (): void => fail(new Error('its node leads no longer'))
  if (lost.aborted) leave()
  lost.addEventListener('abort', leave)
  const alarm = startAlarm(confirmationMs, () => fail(new TimedOut(confirmationMs)))
  subscription
    .on('confirmation', () => {
      alarm.stop()
      say('confirmed')
    })
    .on('caughtUp', () => say('caught-up'))
    .on('readable', () => wake())
    .on('end', () => fail(new Error('the server ended it')))
    // Also after the end: without a listener a late error would end the process.
    .on('error', fail)

  const next = (): Said | null => {
    const [first] = marks
    if (first !== undefined && first.after <= taken) {
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
    /** Resolves when there may be something to take, a failure, or `signal` is given. */
    more: (signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        wake = () => {
          signal.removeEventListener('abort', wake)
          resolve()
        }
        signal.addEventListener('abort', wake)
      }),
    end: () => {
      alarm.stop()
      lost.removeEventListener('abort', leave)
      // The call on the server outlives the stream that the client wraps around it.
      subscription.unsubscribe().catch(() => undefined)
    },
  }
}

type Feed = ReturnType<typeof follow>

interface SubscriptionParts {
  readonly connected: Connected
  readonly patience: Patience
  readonly head: EventStore['head']
}

/** Subscriptions that begin together: a leader that was just elected stood still for seconds when 14 asked it at once. */
const BEGINNING_AT_ONCE = 2

/**
 * Pulled subscriptions; one that fails throws, and whoever pulls subscribes again from its own position. Each resumes one
 * record back and drops what does not lie behind its position. A scavenge may have taken that record before the server
 * looked for it; since no record ever returns, one that is still there when the subscription is confirmed was there then.
 */
export const createSubscriptions = ({ connected, patience, head }: SubscriptionParts): EventStore['subscribe'] => {
  const inSlot = createSlots(BEGINNING_AT_ONCE)

  const untilConfirmed = async (feed: Feed, signal: AbortSignal): Promise<void> => {
    while (!signal.aborted && feed.next() !== 'confirmed') {
      const error = feed.failed()
      if (error !== null) throw failure(unavailable(reasonOf(error)))
      await feed.more(signal)
    }
  }

  /** A subscription that is confirmed, at the right record; null with the signal. */
  const begin = async (from: Position, prefixes: ReadonlyArray<string>, signal: AbortSignal): Promise<Feed | null> => {
    if (signal.aborted) return null
    const [client, lost] = [connected.client(), connected.lost()]
    const resumePoint = async (): Promise<ResumePoint> => {
      const point = await resumePointOf({ client, lost, patience, head }, from)
      if (E.isLeft(point)) throw failure(point.left)
      return point.right
    }
    let point = await resumePoint()
    for (;;) {
      const feed = follow({ client, lost, confirmationMs: patience.confirmation, prefixes }, point)
      try {
        await untilConfirmed(feed, signal)
        const again = signal.aborted ? point : await resumePoint()
        if (isSamePoint(point, again)) return feed
        point = again
      } catch (error) {
        feed.end()
        throw error
      }
      feed.end()
    }
  }

  return async function* (from, prefixes, signal): AsyncGenerator<SubscriptionMessage, void> {
    let position = from

    /** None when it says nothing new. */
    const toMessage = (said: Exclude<Said, 'confirmed'>): SubscriptionMessage | null => {
      if (said === 'caught-up') return { kind: 'caught-up', position }
      if (typeof said === 'string') {
        if (said <= position) return null
        position = said
        return { kind: 'checkpoint', position }
      }
      const place = said.event?.position
      if (place !== undefined && toPosition(place) <= position) return null
      const stored = toStoredEvent(said.event)
      if (E.isLeft(stored)) throw failure(stored.left)
      position = stored.right.position
      return { kind: 'event', event: stored.right }
    }

    const feed = await inSlot(() => begin(from, prefixes, signal))
    if (feed === null) return
    try {
      while (!signal.aborted) {
        const said = feed.next()
        if (said === null) {
          const error = feed.failed()
          if (error !== null) throw failure(unavailable(reasonOf(error)))
          await feed.more(signal)
        } else if (said !== 'confirmed') {
          const message = toMessage(said)
          if (message !== null) yield message
        }
      }
    } finally {
      feed.end()
    }
  }
}
