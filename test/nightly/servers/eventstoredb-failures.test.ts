import type { ExecutionContext } from 'ava'
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client'
import * as E from 'fp-ts/lib/Either.js'
import {
  BEGINNING,
  type EventStore,
  type Position,
  type SubscriptionMessage,
} from '../../../application/ports/event-store.ts'
import { openEventStoreDb } from '../../../infrastructure/eventstoredb/event-store.ts'
import { caughtUp, delivered, newEvent, newEvents, right, take, until } from '../../contract/event-store-support.ts'
import { watchLog } from '../../../application/log/watched-log.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { startEventStoreDb, type TestEventStoreDb } from '../../support/stores/eventstoredb.ts'
import { serialTestOnChosenStores } from '../../support/running/skip-unless.ts'
import { dataOf } from '../../support/events/stored-data.ts'

/** Timeouts that suit a busy machine, in milliseconds. */
const limits = { usual: 3000, short: 1000, suspicion: 0, confirmation: 3000 }

/** Starts the double, and a store with the given timeouts. */
const start = async (
  t: ExecutionContext,
  own = limits,
): Promise<{ readonly double: TestEventStoreDb; readonly store: EventStore }> => {
  const double = await startEventStoreDb()
  t.teardown(double.dispose)
  const store = await openEventStoreDb({ url: double.url, limits: own })
  t.teardown(store.close)
  return { double, store }
}

const tagOf = (answer: E.Either<{ readonly _tag: string }, unknown>): string =>
  E.isLeft(answer) ? answer.left._tag : 'right'

/** One call of each kind at the same time. */
const everyCall = async (store: EventStore): Promise<ReadonlyArray<string>> => {
  const answers = await Promise.all([
    store.append('a', 'no-stream', [newEvent()])(),
    store.append('a', 'any', [newEvent()])(),
    store.read('a')(),
    store.head()(),
    store.setMetadata('a', { maxCount: 9 })(),
    store.deleteStream('a')(),
  ])
  return answers.map(tagOf)
}

const ALL_UNAVAILABLE = Array.from({ length: 6 }, () => 'StoreUnavailable')

const numbers = async (store: EventStore): Promise<ReadonlyArray<unknown>> =>
  (await right(store.read('a'))).map((event) => dataOf(event)['n'])

const eventuallyRight = <A>(read: () => Promise<E.Either<unknown, A>>): Promise<A> =>
  eventually(async () => {
    const answer = await read()
    if (E.isLeft(answer)) throw new Error(`still unavailable: ${JSON.stringify(answer.left)}`)
    return answer.right
  }, { timeoutMs: 300_000 })

serialTestOnChosenStores(
  'a killed store is unavailable, keeps its acknowledged events and is used again after its return',
  async (t) => {
    const { double, store } = await start(t)
    const events = newEvents(3)
    const { position } = await right(store.append('a', 'no-stream', events))
    await double.kill()
    t.deepEqual(await everyCall(store), ALL_UNAVAILABLE)
    await double.start()
    t.is(await eventuallyRight(store.head()), position)
    t.deepEqual(await numbers(store), [0, 1, 2])
    t.is((await right(store.append('a', 'no-stream', events))).position, position, 'a retry after the crash')
  },
)

serialTestOnChosenStores('a frozen store is unavailable to every call, and its late errors do no harm', async (t) => {
  const { double, store } = await start(t)
  await right(store.append('a', 'no-stream', newEvents(2)))
  double.freeze()
  t.deepEqual(await everyCall(store), ALL_UNAVAILABLE)
  t.deepEqual(await everyCall(store), ALL_UNAVAILABLE)
  double.thaw()
  await eventuallyRight(store.head())
  double.freeze()
  const waiting = everyCall(store)
  await double.kill()
  t.deepEqual(await waiting, ALL_UNAVAILABLE)
  await double.start()
  await eventuallyRight(store.head())
})

for (const expected of ['no-stream', 1, 'any'] as const)
  for (const kind of ['unanswered', 'drop', 'hang'] as const)
    serialTestOnChosenStores(
      `an append (${expected}) with a lost answer (${kind}) is unavailable, and its retry is stored once`,
      async (t) => {
        const { double, store } = await start(t)
        if (expected !== 'no-stream') await right(store.append('a', 'no-stream', newEvents(2, 10)))
        const events = newEvents(2)
        await double.inject({ on: 'append', kind, times: 1 })
        t.is(tagOf(await store.append('a', expected, events)()), 'StoreUnavailable')
        const first = await eventuallyRight(store.append('a', expected, events))
        t.deepEqual(await right(store.append('a', expected, events)), first)
        t.deepEqual(await numbers(store), expected === 'no-stream' ? [0, 1] : [10, 11, 0, 1])
      },
    )

serialTestOnChosenStores(
  'a retry with any finds its first attempt after a restart and other appends',
  async (t) => {
    const { double, store } = await start(t)
    const event = newEvent(1)
    await double.inject({ on: 'append', kind: 'unanswered', times: 1 })
    t.is(tagOf(await store.append('a', 'any', [event])()), 'StoreUnavailable')
    await double.kill()
    await double.start()
    await eventuallyRight(store.append('a', 'any', newEvents(3, 2)))
    t.is((await right(store.append('a', 'any', [event]))).revision, 0)
    t.deepEqual(await numbers(store), [1, 2, 3, 4])
  },
)

for (const kind of ['wrong', 'hang', 'drop'] as const)
  serialTestOnChosenStores(
    `reads and appends with a wrong or missing answer (${kind}) are unavailable, then work`,
    async (t) => {
      const { double, store } = await start(t)
      await right(store.append('a', 'no-stream', [newEvent(7)]))
      await double.inject({ on: 'read', kind, times: 1 })
      t.is(tagOf(await store.read('a')()), 'StoreUnavailable')
      await double.inject({ on: 'append', kind, times: 1 })
      t.is(tagOf(await store.append('b', 'no-stream', [newEvent()])()), 'StoreUnavailable')
      t.deepEqual(
        await eventuallyRight(store.read('a')).then((events) => events.map((event) => dataOf(event)['n'])),
        [7],
      )
    },
  )

serialTestOnChosenStores('after six kills under load every append is stored once and in order', async (t) => {
  const { double, store } = await start(t)
  const written = [0, 0, 0, 0]
  const stopping = new AbortController()
  const write = async (writer: number): Promise<void> => {
    while (!stopping.signal.aborted) {
      const n = written[writer] ?? 0
      const event = newEvent(n)
      await eventuallyRight(() => store.append(`w${writer}`, n === 0 ? 'no-stream' : n - 1, [event])())
      written[writer] = n + 1
    }
  }
  const writers = Promise.all(written.map((_, writer) => write(writer)))
  const total = (): number => written.reduce((sum, n) => sum + n, 0)
  for (let kill = 0; kill < 6; kill++) {
    const before = total()
    await eventually(() => {
      if (total() < before + 40) throw new Error('too few appends yet')
    }, { timeoutMs: 300_000 })
    await double.kill()
    await double.start()
  }
  stopping.abort()
  await writers
  for (const [writer, count] of written.entries())
    t.deepEqual(
      (await right(store.read(`w${writer}`))).map((event) => dataOf(event)['n']),
      Array.from({ length: count }, (_, n) => n),
    )
})

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
  serialTestOnChosenStores(
    `a ${fault} subscription throws, and resumes without a gap or a repeat [F4]`,
    async (t) => {
      const { double, store } = await start(t)
      const { signal } = new AbortController()
      await right(store.append('a', 'no-stream', newEvents(50)))
      const taken: SubscriptionMessage[] = []
      const consuming = consume(store.subscribe(BEGINNING, ['a'], signal), taken)
      await eventually(() => {
        if (!caughtUp(taken)) throw new Error('not caught up yet')
      })
      await strike(double)
      t.is(await consuming, 'StoreUnavailable')
      await eventuallyRight(store.append('a', 49, newEvents(50, 50)))
      const rest = await take(store.subscribe(positionOf(taken.at(-1)), ['a'], signal), until(50))
      t.deepEqual(
        [...delivered(taken), ...delivered(rest)],
        Array.from({ length: 100 }, (_, n) => n),
      )
    },
  )

for (const kind of ['hang', 'wrong', 'drop'] as const)
  serialTestOnChosenStores(`a subscription that starts with a fault (${kind}) throws`, async (t) => {
    const { double, store } = await start(t)
    await double.inject({ on: 'subscribe', kind, times: 1 })
    t.is(await consume(store.subscribe(BEGINNING, ['a'], new AbortController().signal), []), 'StoreUnavailable')
  })

serialTestOnChosenStores(
  'a subscription of a frozen store throws, because the leader check notices [F4]',
  async (t) => {
    const { double, store } = await start(t)
    await right(store.append('a', 'no-stream', newEvents(5)))
    const taken: SubscriptionMessage[] = []
    const consuming = consume(store.subscribe(BEGINNING, ['a'], new AbortController().signal), taken)
    await eventually(() => {
      if (!caughtUp(taken)) throw new Error('not caught up yet')
    })
    double.freeze()
    t.is(await consuming, 'StoreUnavailable')
  },
)

serialTestOnChosenStores('data that is not JSON or exceeds a megabyte throws a TypeError', async (t) => {
  const { store } = await start(t)
  await t.throwsAsync(store.append('a', 'no-stream', [{ ...newEvent(), data: { n: 1n } }]), { instanceOf: TypeError })
  await t.throwsAsync(store.append('a', 'no-stream', [{ ...newEvent(), data: { n: 'x'.repeat(1024 * 1024) } }]), {
    instanceOf: TypeError,
  })
  t.deepEqual(await right(store.read('a')), [])
})

serialTestOnChosenStores('a foreign event is reported as damage', async (t) => {
  const { double, store } = await start(t)
  const client = EventStoreDBClient.connectionString(double.url)
  await client.appendToStream('a', jsonEvent({ type: 'Foreign', data: ['a', 'list'] }))
  t.like(await store.read('a')(), { left: { _tag: 'LogCorrupted' } })
  t.is(await consume(store.subscribe(BEGINNING, ['a'], new AbortController().signal), []), 'LogCorrupted')
})

serialTestOnChosenStores(
  'a watched subscription skips a foreign event and reports its stream',
  async (t) => {
    const { double, store } = await start(t)
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
    t.like(
      watched.unreadable().find(({ stream }) => stream === 'a'),
      { problem: 'damaged' },
    )
  },
)

serialTestOnChosenStores(
  'an unreachable server or a missing certificate file ends the start with a readable error',
  async (t) => {
    const double = await startEventStoreDb()
    t.teardown(double.dispose)
    const store = await openEventStoreDb({ url: double.url.replace('esdb', 'esdb+discover'), limits })
    await right(store.append('a', 'no-stream', [newEvent()]))
    await store.close()
    await double.kill()
    await t.throwsAsync(openEventStoreDb({ url: double.url, limits }), {
      message: /^cannot connect to the event store: /,
    })
    await t.throwsAsync(openEventStoreDb({ url: 'esdb://ada:secret@127.0.0.1:1?tlsCAFile=/no/such', limits }), {
      message: /certificate file .* cannot be read/,
    })
  },
)
