import { v7 } from 'uuid'
import type { EventStore, NewEvent, SubscriptionMessage } from '../../application/ports/event-store.ts'
import { eventually } from '../support/tools/eventually.ts'
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

export { rightOf as right } from '../support/tools/right.ts'

/** What a stream holds that was deleted and appended to: a server brings it back a moment after it has acknowledged the append. */
export const restored = <A>(read: () => Promise<ReadonlyArray<A>>): Promise<ReadonlyArray<A>> =>
  eventually(async () => {
    const found = await read()
    if (found.length === 0) throw new Error('the stream still reads as deleted')
    return found
  })

/** Takes messages until `enough` of those so far. */
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

/** At least so many events. */
export const until = (count: number) => (taken: ReadonlyArray<SubscriptionMessage>) => delivered(taken).length >= count

