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

/** Long enough for a busy machine to answer, short enough to be waited for. */
const limits = { usual: 3000, short: 1000, suspicion: 0, confirmation: 3000 }

/** The product's own deadlines are what a frozen store is about. */
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

/** One call of each kind, together. */
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

const AWAY = Array.from({ length: 6 }, () => 'StoreUnavailable')

const numbers = async (store: EventStore): Promise<ReadonlyArray<unknown>> =>
  (await right(store.read('a'))).map((event) => dataOf(event)['n'])

const answered = <A>(read: () => Promise<E.Either<unknown, A>>): Promise<A> =>
  eventually(async () => {
    const answer = await read()
    if (E.isLeft(answer)) throw new Error(`still away: ${JSON.stringify(answer.left)}`)
    return answer.right
  }, { timeoutMs: 300_000 })

serialTestOnChosenStores(
  'a store that is down is unavailable, keeps what it had acknowledged, and is used again once it is back',
  async (t) => {
    const { double, store } = await start(t)
    const events = newEvents(3)
    const { position } = await right(store.append('a', 'no-stream', events))
    await double.kill()
    t.deepEqual(await everyCall(store), AWAY)
    await double.start()
    t.is(await answered(store.head()), position)
    t.deepEqual(await numbers(store), [0, 1, 2])
    t.is((await right(store.append('a', 'no-stream', events))).position, position, 'a retry of before the crash')
  },
)

serialTestOnChosenStores('a frozen store is unavailable to every call, and its late errors end nothing', async (t) => {
  const { double, store } = await start(t)
  await right(store.append('a', 'no-stream', newEvents(2)))
  double.freeze()
  t.deepEqual(await everyCall(store), AWAY)
  t.deepEqual(await everyCall(store), AWAY)
  double.thaw()
  await answered(store.head())
  double.freeze()
  const waiting = everyCall(store)
  await double.kill()
  t.deepEqual(await waiting, AWAY)
  await double.start()
  await answered(store.head())
})

for (const expected of ['no-stream', 1, 'any'] as const)
  for (const kind of ['unanswered', 'drop', 'hang'] as const)
    serialTestOnChosenStores(
      `an append (${expected}) whose answer is lost (${kind}) is unavailable, and its retry stands once`,
      async (t) => {
        const { double, store } = await start(t)
        if (expected !== 'no-stream') await right(store.append('a', 'no-stream', newEvents(2, 10)))
        const events = newEvents(2)
        await double.inject({ on: 'append', kind, times: 1 })
        t.is(tagOf(await store.append('a', expected, events)()), 'StoreUnavailable')
        const first = await answered(store.append('a', expected, events))
        t.deepEqual(await right(store.append('a', expected, events)), first)
        t.deepEqual(await numbers(store), expected === 'no-stream' ? [0, 1] : [10, 11, 0, 1])
      },
    )

serialTestOnChosenStores(
  'an append with any finds its first try behind a restart and the appends of others',
  async (t) => {
    const { double, store } = await start(t)
    const event = newEvent(1)
    await double.inject({ on: 'append', kind: 'unanswered', times: 1 })
    t.is(tagOf(await store.append('a', 'any', [event])()), 'StoreUnavailable')
    await double.kill()
    await double.start()
    await answered(store.append('a', 'any', newEvents(3, 2)))
    t.is((await right(store.append('a', 'any', [event]))).revision, 0)
    t.deepEqual(await numbers(store), [1, 2, 3, 4])
  },
)

for (const kind of ['wrong', 'hang', 'drop'] as const)
  serialTestOnChosenStores(
    `reads and appends that are answered wrongly or never (${kind}) are unavailable, then work`,
    async (t) => {
      const { double, store } = await start(t)
      await right(store.append('a', 'no-stream', [newEvent(7)]))
      await double.inject({ on: 'read', kind, times: 1 })
      t.is(tagOf(await store.read('a')()), 'StoreUnavailable')
      await double.inject({ on: 'append', kind, times: 1 })
      t.is(tagOf(await store.append('b', 'no-stream', [newEvent()])()), 'StoreUnavailable')
      t.deepEqual(await answered(store.read('a')).then((events) => events.map((event) => dataOf(event)['n'])), [7])
    },
  )

serialTestOnChosenStores('killed six times under load: every append stands once, in order', async (t) => {
  const { double, store } = await start(t)
  const written = [0, 0, 0, 0]
  const over = new AbortController()
  const write = async (writer: number): Promise<void> => {
    while (!over.signal.aborted) {
      const n = written[writer] ?? 0
      const event = newEvent(n)
      await answered(() => store.append(`w${writer}`, n === 0 ? 'no-stream' : n - 1, [event])())
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
  over.abort()
  await writers
  for (const [writer, count] of written.entries())
    t.deepEqual(
      (await right(store.read(`w${writer}`))).map((event) => dataOf(event)['n']),
      Array.from({ length: count }, (_, n) => n),
    )
})

/** Consumes until the subscription throws; what it threw and where it stood. */
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

const placeOf = (message: SubscriptionMessage | undefined): Position =>
  message === undefined ? BEGINNING : message.kind === 'event' ? message.event.position : message.position

for (const [how, break_] of [
  [
    'killed',
    async (double: TestEventStoreDb) => {
      await double.kill()
      await double.start()
    },
  ],
  ['cut off', (double: TestEventStoreDb) => double.drop()],
] as const)
  serialTestOnChosenStores(
    `a subscription that is ${how} throws, and goes on from the last position without a gap or a repeat [F4]`,
    async (t) => {
      const { double, store } = await start(t)
      const { signal } = new AbortController()
      await right(store.append('a', 'no-stream', newEvents(50)))
      const taken: SubscriptionMessage[] = []
      const consuming = consume(store.subscribe(BEGINNING, ['a'], signal), taken)
      await eventually(() => {
        if (!caughtUp(taken)) throw new Error('not caught up yet')
      })
      await break_(double)
      t.is(await consuming, 'StoreUnavailable')
      await answered(store.append('a', 49, newEvents(50, 50)))
      const rest = await take(store.subscribe(placeOf(taken.at(-1)), ['a'], signal), until(50))
      t.deepEqual(
        [...delivered(taken), ...delivered(rest)],
        Array.from({ length: 100 }, (_, n) => n),
      )
    },
  )

for (const kind of ['hang', 'wrong', 'drop'] as const)
  serialTestOnChosenStores(`a subscription that begins with a fault (${kind}) throws`, async (t) => {
    const { double, store } = await start(t)
    await double.inject({ on: 'subscribe', kind, times: 1 })
    t.is(await consume(store.subscribe(BEGINNING, ['a'], new AbortController().signal), []), 'StoreUnavailable')
  })

serialTestOnChosenStores('a subscription of a frozen store throws: the looks at the leader notice [F4]', async (t) => {
  const { double, store } = await start(t)
  await right(store.append('a', 'no-stream', newEvents(5)))
  const taken: SubscriptionMessage[] = []
  const consuming = consume(store.subscribe(BEGINNING, ['a'], new AbortController().signal), taken)
  await eventually(() => {
    if (!caughtUp(taken)) throw new Error('not caught up yet')
  })
  double.freeze()
  t.is(await consuming, 'StoreUnavailable')
})

serialTestOnChosenStores('what no server takes is a defect: data that is no JSON, more than a megabyte', async (t) => {
  const { store } = await start(t)
  await t.throwsAsync(store.append('a', 'no-stream', [{ ...newEvent(), data: { n: 1n } }]), { instanceOf: TypeError })
  await t.throwsAsync(store.append('a', 'no-stream', [{ ...newEvent(), data: { n: 'x'.repeat(1024 * 1024) } }]), {
    instanceOf: TypeError,
  })
  t.deepEqual(await right(store.read('a')), [])
})

serialTestOnChosenStores('an event that is none of ours is named, not guessed at', async (t) => {
  const { double, store } = await start(t)
  const client = EventStoreDBClient.connectionString(double.url)
  await client.appendToStream('a', jsonEvent({ type: 'Foreign', data: ['a', 'list'] }))
  t.like(await store.read('a')(), { left: { _tag: 'LogCorrupted' } })
  t.is(await consume(store.subscribe(BEGINNING, ['a'], new AbortController().signal), []), 'LogCorrupted')
})

serialTestOnChosenStores(
  'who follows the log of the service goes on behind an event that is none of ours, and its stream is told',
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
  'a server that cannot be reached at start, or whose name a cluster cannot give, is an error for people',
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
