import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { BEGINNING, type EventStore } from '../../application/ports/event-store.ts'
import { onServer, withStreamPrefix } from '../../infrastructure/eventstoredb/stream-prefix.ts'
import { createMemoryEventStore } from '../support/doubles/memory/event-store.ts'
import { newEvents, right, take } from './event-store-support.ts'
import { eventStoreContract } from './event-store.contract.ts'

eventStoreContract('with a prefix', async () => {
  const store = withStreamPrefix(createMemoryEventStore(), 'acme')
  return { store, close: store.close }
})

/** Returns the streams of all events that a subscription delivers until it is caught up. */
const streamsOf = async (store: EventStore, prefixes: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const stopping = new AbortController()
  const messages = await take(
    store.subscribe(BEGINNING, prefixes, stopping.signal),
    (taken) => taken.at(-1)?.kind === 'caught-up',
  )
  stopping.abort()
  return messages.flatMap((message) => (message.kind === 'event' ? [message.event.stream] : []))
}

test('services with and without a prefix share a server and see only their own events', async (t) => {
  const server = createMemoryEventStore()
  const services = ['acme', 'acme-2', 'live-', null].map((prefix) => ({
    prefix,
    store: withStreamPrefix(server, prefix),
  }))
  for (const { store } of services) await right(store.append('live-7', 'no-stream', newEvents(1)))
  for (const { prefix, store } of services) {
    t.is((await right(store.read('live-7'))).length, 1, String(prefix))
    t.deepEqual(await streamsOf(store, ['live-']), ['live-7'], String(prefix))
    t.deepEqual(await streamsOf(store, ['']), ['live-7'], String(prefix))
  }
  t.deepEqual(
    await streamsOf(server, ['']),
    services.map(({ prefix }) => onServer(prefix, 'live-7')),
    'the server has the events of all services',
  )
})

test('damage is reported with the stream name that the service uses', async (t) => {
  const refusal = { _tag: 'LogCorrupted', reason: 'r', row: { position: BEGINNING, stream: 'acme.live-7' } } as const
  const expected = { ...refusal, row: { ...refusal.row, stream: 'live-7' } }
  const broken: EventStore = {
    ...createMemoryEventStore(),
    read: async () => E.left(refusal),
    subscribe: () => ({
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('it ended', { cause: refusal })) }),
    }),
  }
  const store = withStreamPrefix(broken, 'acme')
  t.deepEqual(await store.read('live-7'), E.left(expected))
  t.deepEqual((await t.throwsAsync(streamsOf(store, ['live-']))).cause, expected)
})
