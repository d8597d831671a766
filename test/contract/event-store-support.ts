import * as E from 'fp-ts/lib/Either.js'
import { v7 } from 'uuid'
import type { EventStore, NewEvent, ReadOptions, SubscriptionMessage } from '../../application/ports/event-store.ts'
import { eventually } from '../support/tools/eventually.ts'
import { rightOf } from '../support/tools/right.ts'
import { dataOf } from '../support/events/stored-data.ts'

export interface OpenedEventStore {
  readonly store: EventStore
  readonly close: () => Promise<void>
}

/** A new event with a number in its data. */
export const newEvent = (n = 0): NewEvent => ({
  id: v7(),
  type: 'Counted',
  data: { n },
  metadata: { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: '2026-11-21T09:30:00.123456+00:00' },
})

export const newEvents = (count: number, from = 0): ReadonlyArray<NewEvent> =>
  Array.from({ length: count }, (_, n) => newEvent(from + n))

export { rightOf as right }

/** Waits for the events of a stream that was deleted and appended to. A server shows them with a short delay. */
export const restored = <A>(read: () => Promise<ReadonlyArray<A>>): Promise<ReadonlyArray<A>> =>
  eventually(async () => {
    const found = await read()
    if (found.length === 0) throw new Error('the stream still reads as deleted')
    return found
  })

/** Collects messages until `enough` returns true for them. */
export const take = async (
  messages: AsyncIterable<SubscriptionMessage>,
  enough: (taken: ReadonlyArray<SubscriptionMessage>) => boolean,
): Promise<ReadonlyArray<SubscriptionMessage>> => {
  const taken: SubscriptionMessage[] = []
  for await (const message of messages) {
    taken.push(message)
    if (enough(taken)) break
  }
  return taken
}

export const caughtUp = (taken: ReadonlyArray<SubscriptionMessage>): boolean => taken.at(-1)?.kind === 'caught-up'

export const delivered = (taken: ReadonlyArray<SubscriptionMessage>): ReadonlyArray<unknown> =>
  taken.flatMap((message) => (message.kind === 'event' ? [dataOf(message.event)['n']] : []))

/** Returns a condition for `take`: at least `count` events were delivered. */
export const until = (count: number) => (taken: ReadonlyArray<SubscriptionMessage>) => delivered(taken).length >= count

/** Returns the numbers in the data of the events that a read returns. */
export const numbers = async (
  store: EventStore,
  stream: string,
  options?: ReadOptions,
): Promise<ReadonlyArray<unknown>> =>
  (await rightOf(store.read(stream, options))).map((event) => dataOf(event)['n'])

export const revisions = async (store: EventStore, stream: string): Promise<ReadonlyArray<number>> =>
  (await rightOf(store.read(stream))).map(({ revision }) => revision)

export const wrongRevision = (stream: string, actual: number | 'no-stream') =>
  E.left({ _tag: 'WrongRevision', stream, actual })
