import type { EventStore } from '../../../application/ports/event-store.ts'
import { openEventStoreDb } from '../../../infrastructure/eventstoredb/event-store.ts'
import { newEvent, newEvents, right } from '../../contract/event-store-support.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { startEventStoreDb } from '../../support/stores/eventstoredb.ts'
import { eventuallyRight, LIMITS, startEventStore, tagOf } from '../../support/stores/eventstoredb-store.ts'
import { serialTestOnChosenStores } from '../../support/running/skip-unless.ts'
import { dataOf } from '../../support/events/stored-data.ts'

/** Sends one call of each kind at the same time. Returns the tags of their results. */
const everyCall = async (store: EventStore): Promise<ReadonlyArray<string>> => {
  const answers = await Promise.all([
    store.append('a', 'no-stream', [newEvent()]),
    store.append('a', 'any', [newEvent()]),
    store.read('a'),
    store.head(),
    store.setMetadata('a', { maxCount: 9 }),
    store.deleteStream('a'),
  ])
  return answers.map(tagOf)
}

const ALL_UNAVAILABLE = Array.from({ length: 6 }, () => 'StoreUnavailable')

const numbers = async (store: EventStore): Promise<ReadonlyArray<unknown>> =>
  (await right(store.read('a'))).map((event) => dataOf(event)['n'])

serialTestOnChosenStores(
  'a killed store is unavailable, keeps its acknowledged events and is used again after its return',
  async (t) => {
    const { double, store } = await startEventStore(t)
    const events = newEvents(3)
    const { position } = await right(store.append('a', 'no-stream', events))
    await double.kill()
    t.deepEqual(await everyCall(store), ALL_UNAVAILABLE)
    await double.start()
    t.is(await eventuallyRight(() => store.head()), position)
    t.deepEqual(await numbers(store), [0, 1, 2])
    t.is((await right(store.append('a', 'no-stream', events))).position, position, 'a retry returns the same position')
  },
)

serialTestOnChosenStores('a frozen store is unavailable to every call, and its late errors do no harm', async (t) => {
  const { double, store } = await startEventStore(t)
  await right(store.append('a', 'no-stream', newEvents(2)))
  double.freeze()
  t.deepEqual(await everyCall(store), ALL_UNAVAILABLE)
  t.deepEqual(await everyCall(store), ALL_UNAVAILABLE)
  double.thaw()
  await eventuallyRight(() => store.head())
  double.freeze()
  const waiting = everyCall(store)
  await double.kill()
  t.deepEqual(await waiting, ALL_UNAVAILABLE)
  await double.start()
  await eventuallyRight(() => store.head())
})

for (const expected of ['no-stream', 1, 'any'] as const)
  for (const kind of ['unanswered', 'drop', 'hang'] as const)
    serialTestOnChosenStores(
      `an append (${expected}) with a lost answer (${kind}) is unavailable, and its retry is stored once`,
      async (t) => {
        const { double, store } = await startEventStore(t)
        if (expected !== 'no-stream') await right(store.append('a', 'no-stream', newEvents(2, 10)))
        const events = newEvents(2)
        await double.inject({ on: 'append', kind, times: 1 })
        t.is(tagOf(await store.append('a', expected, events)), 'StoreUnavailable')
        const first = await eventuallyRight(() => store.append('a', expected, events))
        t.deepEqual(await right(store.append('a', expected, events)), first)
        t.deepEqual(await numbers(store), expected === 'no-stream' ? [0, 1] : [10, 11, 0, 1])
      },
    )

serialTestOnChosenStores(
  'a retry that expects any revision finds its first attempt after a restart and other appends',
  async (t) => {
    const { double, store } = await startEventStore(t)
    const event = newEvent(1)
    await double.inject({ on: 'append', kind: 'unanswered', times: 1 })
    t.is(tagOf(await store.append('a', 'any', [event])), 'StoreUnavailable')
    await double.kill()
    await double.start()
    await eventuallyRight(() => store.append('a', 'any', newEvents(3, 2)))
    t.is((await right(store.append('a', 'any', [event]))).revision, 0)
    t.deepEqual(await numbers(store), [1, 2, 3, 4])
  },
)

for (const kind of ['wrong', 'hang', 'drop'] as const)
  serialTestOnChosenStores(
    `reads and appends with a wrong or missing answer (${kind}) are unavailable, then work`,
    async (t) => {
      const { double, store } = await startEventStore(t)
      await right(store.append('a', 'no-stream', [newEvent(7)]))
      await double.inject({ on: 'read', kind, times: 1 })
      t.is(tagOf(await store.read('a')), 'StoreUnavailable')
      await double.inject({ on: 'append', kind, times: 1 })
      t.is(tagOf(await store.append('b', 'no-stream', [newEvent()])), 'StoreUnavailable')
      t.deepEqual(
        await eventuallyRight(() => store.read('a')).then((events) => events.map((event) => dataOf(event)['n'])),
        [7],
      )
    },
  )

serialTestOnChosenStores('after six kills under load every append is stored once and in order', async (t) => {
  const { double, store } = await startEventStore(t)
  const written = [0, 0, 0, 0]
  const stopping = new AbortController()
  const write = async (writer: number): Promise<void> => {
    while (!stopping.signal.aborted) {
      const n = written[writer] ?? 0
      const event = newEvent(n)
      await eventuallyRight(() => store.append(`w${writer}`, n === 0 ? 'no-stream' : n - 1, [event]))
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

serialTestOnChosenStores('data that is not JSON or exceeds a megabyte throws a TypeError', async (t) => {
  const { store } = await startEventStore(t)
  await t.throwsAsync(() =>
    store.append('a', 'no-stream', [{ ...newEvent(), data: { n: 1n } }]), { instanceOf: TypeError })
  await t.throwsAsync(() => store.append('a', 'no-stream', [{ ...newEvent(), data: { n: 'x'.repeat(1024 * 1024) } }]), {
    instanceOf: TypeError,
  })
  t.deepEqual(await right(store.read('a')), [])
})

serialTestOnChosenStores(
  'an unreachable server or a missing certificate file ends the start with a readable error',
  async (t) => {
    const double = await startEventStoreDb()
    t.teardown(double.dispose)
    const store = await openEventStoreDb({ url: double.url.replace('esdb', 'esdb+discover'), limits: LIMITS })
    await right(store.append('a', 'no-stream', [newEvent()]))
    await store.close()
    await double.kill()
    await t.throwsAsync(openEventStoreDb({ url: double.url, limits: LIMITS }), {
      message: /^cannot connect to the event store: /,
    })
    await t.throwsAsync(openEventStoreDb({ url: 'esdb://ada:secret@127.0.0.1:1?tlsCAFile=/no/such', limits: LIMITS }), {
      message: /certificate file .* cannot be read/,
    })
  },
)
