import { eventTypeFilter, streamNameFilter, type AllStreamResolvedEvent, type AllStreamSubscription } from '@eventstore/db-client'
import * as E from 'fp-ts/lib/Either.js'
import type { EventStore, LogCorrupted, Position, StoreUnavailable, SubscriptionMessage } from '../../application/ports/event-store.ts'
import { reasonOf, unavailable } from './failures.ts'
import type { Connected } from './leader.ts'
import { startAlarm, TimedOut, type Patience } from './patience.ts'
import { fromPosition, toPosition } from './positions.ts'
import { toStoredEvent } from './stored-event.ts'

const failure = (cause: StoreUnavailable | LogCorrupted): Error => new Error(`the subscription ended: ${cause.reason}`, { cause })

/** Something that the server said between two events. */
interface Mark {
  /** Number of events that were sent before it. */
  readonly after: number
  readonly checkpoint: Position | 'caught-up'
}

/** What a subscription of the client says, in the order in which the server said it. */
type Said = AllStreamResolvedEvent | Mark

/** For the empty prefix: the server's own events are in no stream of ours. */
const NOT_THE_SERVERS = '^[^$]'

/**
 * Subscribes with the client, whose events are pulled while what lies between them arrives through callbacks, ahead of a
 * consumer that is slow. Each such mark is therefore kept until the events before it are taken: those taken so far and
 * those that still wait in the client's buffer.
 */
const follow = (connected: Connected, confirmationMs: number, from: Position, prefixes: ReadonlyArray<string>) => {
  const marks: Mark[] = []
  let taken = 0
  let failed: Error | null = null
  let wake: () => void = () => undefined
  const mark = (checkpoint: Mark['checkpoint']): void => {
    marks.push({ after: taken + subscription.readableLength, checkpoint })
    wake()
  }
  const fail = (error: Error): void => {
    failed ??= error
    wake()
  }
  const checkpoints = { checkpointInterval: 1, checkpointReached: (_: unknown, position: Parameters<typeof toPosition>[0]) => mark(toPosition(position)) }
  const lost = connected.lost()
  const subscription: AllStreamSubscription = connected.client().subscribeToAll({
    requiresLeader: true,
    fromPosition: fromPosition(from),
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
    .on('confirmation', alarm.stop)
    .on('caughtUp', () => mark('caught-up'))
    .on('readable', () => wake())
    .on('end', () => fail(new Error('the server ended it')))
    // Also after the end: without a listener a late error would end the process.
    .on('error', fail)

  const next = (): Said | null => {
    const [first] = marks
    if (first !== undefined && first.after <= taken) {
      marks.shift()
      return first
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

/** Pulled subscriptions; one that fails throws, and whoever pulls subscribes again from its own position. */
export const createSubscriptions = (connected: Connected, patience: Pick<Patience, 'confirmation'>): EventStore['subscribe'] =>
  async function* (from, prefixes, signal): AsyncGenerator<SubscriptionMessage, void> {
    if (signal.aborted) return
    let position = from

    /** None when it says nothing new. */
    const toMessage = (said: Said): SubscriptionMessage | null => {
      if ('after' in said) {
        if (said.checkpoint === 'caught-up') return { kind: 'caught-up', position }
        if (said.checkpoint <= position) return null
        position = said.checkpoint
        return { kind: 'checkpoint', position }
      }
      const stored = toStoredEvent(said.event)
      if (E.isLeft(stored)) throw failure(stored.left)
      position = stored.right.position
      return { kind: 'event', event: stored.right }
    }

    const feed = follow(connected, patience.confirmation, from, prefixes)
    try {
      while (!signal.aborted) {
        const said = feed.next()
        const message = said === null ? null : toMessage(said)
        if (message !== null) yield message
        if (said !== null) continue
        const error = feed.failed()
        if (error !== null) throw failure(unavailable(reasonOf(error)))
        await feed.more(signal)
      }
    } finally {
      feed.end()
    }
  }
