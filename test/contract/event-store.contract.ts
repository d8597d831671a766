import test, { type ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { Appended, EventStore, NewEvent } from '../../application/ports/event-store.ts'
import {
  newEvent, newEvents, numbers, revisions, right, wrongRevision, type OpenedEventStore,
} from './event-store-support.ts'
import { streamLimitsContract } from './stream-limits.contract.ts'
import { subscriptionContract } from './subscription.contract.ts'

type RunTest = (title: string, body: (t: ExecutionContext) => Promise<void>) => void

interface ContractOptions {
  /** Registers a test. The tests run concurrently by default. */
  readonly run?: RunTest
  /** True when other services write to the same log under other stream names. */
  readonly isShared?: boolean
}

/** Tests every event store. Each test opens its own store. */
export const eventStoreContract = (
  name: string,
  open: () => Promise<OpenedEventStore>,
  { run = test, isShared = false }: ContractOptions = {},
): void => {
  const on = (
    title: string,
    body: (t: ExecutionContext, store: EventStore, signal: AbortSignal, abort: () => void) => Promise<void>,
  ): void => {
    run(`${name}: ${title}`, async (t) => {
      const { store, close } = await open()
      const controller = new AbortController()
      try {
        await body(t, store, controller.signal, () => controller.abort())
      } finally {
        controller.abort()
        await close()
      }
    })
  }

  on('an unknown stream reads as empty', async (t, store) => {
    t.deepEqual(await right(store.read('nothing')), [])
    t.deepEqual(await right(store.read('nothing', { direction: 'backwards', limit: 1 })), [])
  })

  on('events are read as they were appended, with revision and position', async (t, store) => {
    const event = {
      ...newEvent(),
      type: 'Größe',
      data: { text: 'Ünïcödé 🎙 \u2028 \ud800', list: [1, null, { a: true }], big: 1e300 },
    }
    const before = store.now()
    const appended = await right(store.append('live-1', 'no-stream', [event]))
    const [stored] = await right(store.read('live-1'))
    const storedAt = stored?.storedAt ?? NaN
    t.deepEqual(stored, { ...event, stream: 'live-1', revision: 0, position: appended.position, storedAt })
    // The clock of a server is known to two seconds, on a busy machine a little more.
    t.true(before - 3000 <= storedAt && storedAt <= store.now() + 3000, `${before} ${storedAt} ${store.now()}`)
    const head = await right(store.head())
    t.true(isShared ? head >= appended.position : head === appended.position)
  })

  on('revisions count from 0, and positions grow with the log', async (t, store) => {
    const before = await right(store.head())
    const answers: Appended[] = []
    for (const [stream, expected] of [['a', 'no-stream'], ['b', 'no-stream'], ['a', 1], ['b', 1]] as const) {
      answers.push(await right(store.append(stream, expected, newEvents(2))))
    }
    t.deepEqual(answers.map(({ revision }) => revision), [1, 1, 3, 3])
    const positions = answers.map(({ position }) => position)
    // A server may write its own events before these appends.
    t.deepEqual([before, ...positions].toSorted(), [before, ...positions])
    t.is(new Set([before, ...positions]).size, 5)
  })

  on('each event of an append has its own position, and the append returns the last position', async (t, store) => {
    const { position } = await right(store.append('a', 'no-stream', newEvents(5)))
    const positions = (await right(store.read('a'))).map((event) => event.position)
    t.deepEqual(positions.toSorted(), positions)
    t.is(new Set(positions).size, 5)
    t.is(positions.at(-1), position)
  })

  on('a wrong expected revision is returned as a left and writes nothing', async (t, store) => {
    t.deepEqual(await store.append('a', 0, [newEvent()]), wrongRevision('a', 'no-stream'))
    await right(store.append('a', 'no-stream', newEvents(3)))
    t.deepEqual(await store.append('a', 'no-stream', [newEvent()]), wrongRevision('a', 2))
    t.deepEqual(await store.append('a', 1, [newEvent()]), wrongRevision('a', 2))
    t.deepEqual(await store.append('a', 7, [newEvent()]), wrongRevision('a', 2))
    t.deepEqual(await revisions(store, 'a'), [0, 1, 2])
  })

  on('an append with "any" succeeds at every revision', async (t, store) => {
    await right(store.append('a', 'any', [newEvent(1)]))
    t.is((await right(store.append('a', 'any', [newEvent(2)]))).revision, 1)
    t.deepEqual(await numbers(store, 'a'), [1, 2])
  })

  on('a retry with "any" returns the first answer while its events are the last in the stream', async (t, store) => {
    const event = newEvent(1)
    const first = await right(store.append('a', 'any', [event]))
    t.deepEqual(await right(store.append('a', 'any', [event])), first)
    t.deepEqual(await numbers(store, 'a'), [1])
  })

  on('an identical retry returns the first answer, also after other appends', async (t, store) => {
    const [first, second] = [newEvents(2), newEvents(2, 2)]
    const answers = [await right(store.append('a', 'no-stream', first)), await right(store.append('a', 1, second))]
    await right(store.append('a', 3, newEvents(5, 4)))
    t.deepEqual(await right(store.append('a', 'no-stream', first)), answers[0])
    t.deepEqual(await right(store.append('a', 1, second)), answers[1])
    t.deepEqual(await right(store.append('a', 'no-stream', [...first, ...second])), answers[1])
    t.is((await right(store.append('a', 1, second.slice(0, 1)))).revision, 2)
    t.deepEqual(await numbers(store, 'a'), [0, 1, 2, 3, 4, 5, 6, 7, 8])
  })

  on('a retry that matches only in part is a wrong revision', async (t, store) => {
    const events = newEvents(3)
    const [first, second, third] = events as [NewEvent, NewEvent, NewEvent]
    await right(store.append('a', 'no-stream', events))
    for (const other of [
      [first, newEvent()],
      [second, third],
      [second, first, third],
      [first, second, third, newEvent()],
    ]) {
      t.deepEqual(await store.append('a', 'no-stream', other), wrongRevision('a', 2))
    }
    t.deepEqual(await numbers(store, 'a'), [0, 1, 2])
  })

  on('identical concurrent appends store the events once', async (t, store) => {
    const events = newEvents(2)
    const first = await right(store.append('a', 'no-stream', newEvents(1, 9)))
    const task = () => store.append('a', first.revision, events)
    const answers = await Promise.all([task(), task(), task()])
    t.true(answers.some(E.isRight))
    t.is(new Set(answers.filter(E.isRight).map(({ right }) => right.position)).size, 1)
    t.deepEqual(await numbers(store, 'a'), [9, 0, 1])
  })

  on('exactly one of 200 concurrent appends at one revision succeeds, in every round', async (t, store) => {
    for (const expected of ['no-stream', 0, 1] as const) {
      const answers = await Promise.all(newEvents(200).map((event) => store.append('a', expected, [event])))
      t.is(answers.filter(E.isRight).length, 1)
      t.is(answers.filter((answer) => E.isLeft(answer) && answer.left._tag === 'WrongRevision').length, 199)
    }
    t.deepEqual(await revisions(store, 'a'), [0, 1, 2])
  })

  on('200 concurrent appends with "any" all succeed, each with its own revision', async (t, store) => {
    const answers = await Promise.all(newEvents(200).map((event) => right(store.append('a', 'any', [event]))))
    t.deepEqual(answers.map(({ revision }) => revision).sort((a, b) => a - b), Array.from({ length: 200 }, (_, n) => n))
  })

  on('a refused append does not affect concurrent appends', async (t, store) => {
    const answers = await Promise.all([
      store.append('a', 'no-stream', newEvents(2)),
      store.append('b', 5, [newEvent()]),
      store.append('c', 'no-stream', [newEvent(7)]),
    ])
    t.deepEqual(answers.map(E.isRight), [true, false, true])
    t.deepEqual([await numbers(store, 'a'), await numbers(store, 'b'), await numbers(store, 'c')], [[0, 1], [], [7]])
  })

  on('an append without events or with an invalid event id throws and writes nothing', async (t, store) => {
    await t.throwsAsync(() => store.append('a', 'no-stream', []))
    await t.throwsAsync(() => store.append('a', 'no-stream', [{ ...newEvent(), id: 'seven' }]))
    t.deepEqual(await right(store.read('a')), [])
  })

  on('reads go forwards and backwards, from a revision, with a limit', async (t, store) => {
    await right(store.append('a', 'no-stream', newEvents(5)))
    t.deepEqual(await numbers(store, 'a', { from: 2 }), [2, 3, 4])
    t.deepEqual(await numbers(store, 'a', { from: 1, limit: 2 }), [1, 2])
    t.deepEqual(await numbers(store, 'a', { direction: 'backwards' }), [4, 3, 2, 1, 0])
    t.deepEqual(await numbers(store, 'a', { direction: 'backwards', limit: 1 }), [4])
    t.deepEqual(await numbers(store, 'a', { direction: 'backwards', from: 2, limit: 2 }), [2, 1])
    t.deepEqual(await numbers(store, 'a', { from: 5 }), [])
  })

  on('a long stream is read completely', async (t, store) => {
    for (const part of [0, 1, 2]) await right(store.append('a', 'any', newEvents(500, part * 500)))
    await right(store.append('a', 'any', [newEvent(1500)]))
    t.deepEqual(await numbers(store, 'a'), Array.from({ length: 1501 }, (_, n) => n))
    t.deepEqual(
      await numbers(store, 'a', { direction: 'backwards', limit: 1200 }),
      Array.from({ length: 1200 }, (_, n) => 1500 - n),
    )
  })

  streamLimitsContract(on)
  subscriptionContract(on)
}
