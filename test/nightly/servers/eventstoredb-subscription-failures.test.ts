import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client'
import * as E from 'fp-ts/lib/Either.js'
import { BEGINNING, type Position, type SubscriptionMessage } from '../../../application/ports/event-store.ts'
import { caughtUp, delivered, newEvent, newEvents, right, take, until } from '../../contract/event-store-support.ts'
import { watchLog } from '../../../application/log/watched-log.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { type TestEventStoreDb } from '../../support/stores/eventstoredb.ts'
import { eventuallyRight, startEventStore, tagOf } from '../../support/stores/eventstoredb-store.ts'
import { serialTestOnChosenStores } from '../../support/running/skip-unless.ts'

/** Consumes a subscription until it throws. Returns the tag of its error. */
const consume = async (
  messages: AsyncIterable<SubscriptionMessage>,
  taken: SubscriptionMessage[],
): Promise<unknown> => {
  try {
    for await (const message of messages) taken.push(message)
    return 'ended'
  } catch (error) {
    return error instanceof Error ? tagOf(E.left(error.cause as { readonly _tag: string })) : error
  }
}

const positionOf = (message: SubscriptionMessage | undefined): Position =>
  message === undefined ? BEGINNING : message.kind === 'event' ? message.event.position : message.position

for (const [fault, strike] of [
  [
    'killed',
    async (double: TestEventStoreDb) => {
      await double.kill()
      await double.start()
    },
  ],
  ['disconnected', (double: TestEventStoreDb) => double.drop()],
] as const)
  serialTestOnChosenStores(`a ${fault} subscription throws, and resumes without a gap or a repeat`, async (t) => {
    const { double, store } = await startEventStore(t)
    const { signal } = new AbortController()
    await right(store.append('a', 'no-stream', newEvents(50)))
    const taken: SubscriptionMessage[] = []
    const consuming = consume(store.subscribe(BEGINNING, ['a'], signal), taken)
    await eventually(() => {
      if (!caughtUp(taken)) throw new Error('not caught up yet')
    })
    await strike(double)
    t.is(await consuming, 'StoreUnavailable')
    await eventuallyRight(() => store.append('a', 49, newEvents(50, 50)))
    const rest = await take(store.subscribe(positionOf(taken.at(-1)), ['a'], signal), until(50))
    t.deepEqual([...delivered(taken), ...delivered(rest)], Array.from({ length: 100 }, (_, n) => n))
  })

for (const kind of ['hang', 'wrong', 'drop'] as const)
  serialTestOnChosenStores(`a subscription that starts with a fault (${kind}) throws`, async (t) => {
    const { double, store } = await startEventStore(t)
    await double.inject({ on: 'subscribe', kind, times: 1 })
    t.is(await consume(store.subscribe(BEGINNING, ['a'], new AbortController().signal), []), 'StoreUnavailable')
  })

serialTestOnChosenStores('a subscription of a frozen store throws, because the leader check notices', async (t) => {
  const { double, store } = await startEventStore(t)
  await right(store.append('a', 'no-stream', newEvents(5)))
  const taken: SubscriptionMessage[] = []
  const consuming = consume(store.subscribe(BEGINNING, ['a'], new AbortController().signal), taken)
  await eventually(() => {
    if (!caughtUp(taken)) throw new Error('not caught up yet')
  })
  double.freeze()
  t.is(await consuming, 'StoreUnavailable')
})

// A foreign event is an event that another program appended.
serialTestOnChosenStores('a foreign event is reported as damage', async (t) => {
  const { double, store } = await startEventStore(t)
  const client = EventStoreDBClient.connectionString(double.url)
  await client.appendToStream('a', jsonEvent({ type: 'Foreign', data: ['a', 'list'] }))
  t.like(await store.read('a'), { left: { _tag: 'LogCorrupted' } })
  t.is(await consume(store.subscribe(BEGINNING, ['a'], new AbortController().signal), []), 'LogCorrupted')
})

serialTestOnChosenStores('a watched subscription skips a foreign event and reports its stream', async (t) => {
  const { double, store } = await startEventStore(t)
  const client = EventStoreDBClient.connectionString(double.url)
  await client.appendToStream('a', jsonEvent({ type: 'Foreign', data: ['a', 'list'] }))
  await right(store.append('b', 'no-stream', [newEvent(7)]))
  const watched = watchLog(store, createRecordingLogger())
  const stop = new AbortController()
  const streams: string[] = []
  for await (const message of watched.store.subscribe(BEGINNING, ['a', 'b'], stop.signal)) {
    if (message.kind === 'event') streams.push(message.event.stream)
    if (streams.length === 1) stop.abort()
  }
  t.deepEqual(streams, ['b'])
  t.like(watched.unreadable().find(({ stream }) => stream === 'a'), { problem: 'damaged' })
})
