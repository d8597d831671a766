import type { ExecutionContext } from 'ava'
import {
  BEGINNING,
  type EventStore,
  type Position,
  type SubscriptionMessage,
} from '../../application/ports/event-store.ts'
import { caughtUp, delivered, newEvent, newEvents, right, take, until } from './event-store-support.ts'
import { dataOf } from '../support/events/stored-data.ts'

type On = (
  title: string,
  body: (t: ExecutionContext, store: EventStore, signal: AbortSignal, abort: () => void) => Promise<void>,
) => void

const count = (length: number): ReadonlyArray<number> => Array.from({ length }, (_, n) => n)

const positionOf = (message: SubscriptionMessage): Position =>
  message.kind === 'event' ? message.event.position : message.position

/** Tests the subscriptions of every event store. */
export const subscriptionContract = (on: On): void => {
  on('a subscription delivers the log from its beginning, in order, then is caught up', async (t, store, signal) => {
    await right(store.append('a', 'no-stream', newEvents(2)))
    await right(store.append('b', 'no-stream', newEvents(2, 2)))
    const { position } = await right(store.append('a', 1, newEvents(1200, 4)))
    const taken = await take(store.subscribe(BEGINNING, ['a', 'b'], signal), caughtUp)
    t.deepEqual(delivered(taken), count(1204))
    const positions = taken.map(positionOf)
    t.deepEqual(positions.toSorted(), positions)
    t.is(positions.at(-1), position)
    const first = taken.find(({ kind }) => kind === 'event')
    t.is(first?.kind === 'event' ? `${first.event.stream}@${first.event.revision}` : undefined, 'a@0')
  })

  on('a subscription to an empty log is caught up, then delivers new events', async (t, store, signal) => {
    const messages = store.subscribe(BEGINNING, ['a'], signal)[Symbol.asyncIterator]()
    const next = messages.next()
    await right(store.append('a', 'no-stream', newEvents(2)))
    const first = await next
    const rest = await take(
      { [Symbol.asyncIterator]: () => messages },
      until(first.done !== true && first.value.kind === 'event' ? 1 : 2),
    )
    t.deepEqual(delivered(rest).at(-1), 1)
  })

  on('a subscription begins after the given position', async (t, store, signal) => {
    const { position } = await right(store.append('a', 'no-stream', newEvents(3)))
    await right(store.append('a', 2, newEvents(2, 3)))
    t.deepEqual(delivered(await take(store.subscribe(position, ['a'], signal), caughtUp)), [3, 4])
  })

  on('a subscription resumes from the position of any message without a gap or a repeat', async (t, store, signal) => {
    for (const n of count(12)) await right(store.append(n % 3 === 0 ? 'other' : 'a', 'any', [newEvent(n)]))
    const whole = await take(store.subscribe(BEGINNING, ['a'], signal), caughtUp)
    for (const [index, message] of whole.entries()) {
      const rest = await take(store.subscribe(positionOf(message), ['a'], signal), caughtUp)
      t.deepEqual([...delivered(whole.slice(0, index + 1)), ...delivered(rest)], delivered(whole))
    }
  })

  on('a subscription delivers only streams with a given prefix', async (t, store, signal) => {
    for (const [n, stream] of ['live-1', 'alive-1', 'user-1', 'live-2', 'LIVE-3', 'liv', 'größe-1'].entries()) {
      await right(store.append(stream, 'no-stream', [newEvent(n)]))
    }
    const subscribe = (...prefixes: ReadonlyArray<string>) =>
      take(store.subscribe(BEGINNING, prefixes, signal), caughtUp)
    t.deepEqual(delivered(await subscribe('live-')), [0, 3])
    t.deepEqual(delivered(await subscribe('live-', 'user-', 'größe')), [0, 2, 3, 6])
  })

  on(
    'the caught-up message names the end, also after events of other streams; positions keep log order',
    async (t, store, signal) => {
      await right(store.append('live-1', 'no-stream', [newEvent(1)]))
      const end = await right(store.append('other', 'no-stream', newEvents(100)))
      const messages = store.subscribe(BEGINNING, ['live-'], signal)[Symbol.asyncIterator]()
      const all = { [Symbol.asyncIterator]: () => ({ next: () => messages.next() }) }
      const taken = await take(all, caughtUp)
      t.deepEqual(delivered(taken), [1])
      t.true(taken.every((message) => positionOf(message) <= end.position))
      // A store may send a checkpoint for these events.
      await right(store.append('other', 99, newEvents(100)))
      const { position } = await right(store.append('live-1', 0, [newEvent(2)]))
      const later = await take(all, until(1))
      t.deepEqual(delivered(later), [2])
      const positions = [...taken, ...later].map(positionOf)
      t.deepEqual(positions.toSorted(), positions)
      t.is(positions.at(-1), position)
      await messages.return?.()
    },
  )

  on('a position beyond the end shows that the log is an older copy', async (t, store, signal) => {
    const { position } = await right(store.append('a', 'no-stream', newEvents(2)))
    const beyond = position.replaceAll(/\b0{6}/g, '000009') as Position
    const error = await t.throwsAsync(take(store.subscribe(beyond, ['a'], signal), () => true))
    t.like(error?.cause, { _tag: 'OlderLog' })
  })

  on('a slow subscription receives events appended meanwhile without a gap or a repeat', async (t, store, signal) => {
    await right(store.append('a', 'no-stream', newEvents(40)))
    const seen: unknown[] = []
    for await (const message of store.subscribe(BEGINNING, ['a'], signal)) {
      if (message.kind !== 'event') continue
      seen.push(dataOf(message.event)['n'])
      if (seen.length <= 60) await right(store.append('a', 'any', [newEvent(39 + seen.length)]))
      if (seen.length === 100) break
    }
    t.deepEqual(seen, count(100))
  })

  on('a slow consumer is caught up only after all earlier events', async (t, store, signal) => {
    await right(store.append('a', 'no-stream', newEvents(12)))
    const received: unknown[] = []
    for await (const message of store.subscribe(BEGINNING, ['a'], signal)) {
      if (message.kind !== 'checkpoint')
        received.push(message.kind === 'event' ? dataOf(message.event)['n'] : message.kind)
      if (message.kind === 'caught-up') break
      for (const _ of count(3)) await right(store.read('a', { limit: 1 }))
    }
    t.deepEqual(received, [...count(12), 'caught-up'])
  })

  on('a waiting subscription ends when it is aborted', async (t, store, signal, abort) => {
    await right(store.append('a', 'no-stream', newEvents(2)))
    const taken: SubscriptionMessage[] = []
    for await (const message of store.subscribe(BEGINNING, ['a'], signal)) {
      taken.push(message)
      if (message.kind === 'caught-up') setImmediate(abort)
    }
    t.deepEqual(delivered(taken), [0, 1])
  })

  on('a subscription aborted between two events delivers nothing more', async (t, store, signal, abort) => {
    await right(store.append('a', 'no-stream', newEvents(20)))
    const taken: SubscriptionMessage[] = []
    for await (const message of store.subscribe(BEGINNING, ['a'], signal)) {
      taken.push(message)
      abort()
    }
    t.is(taken.length, 1)
    t.deepEqual(await take(store.subscribe(BEGINNING, ['a'], signal), () => false), [])
  })

  on('several subscriptions receive the same events', async (t, store, signal) => {
    const receive = () => take(store.subscribe(BEGINNING, ['a'], signal), until(50))
    const [first, second] = [receive(), receive()]
    for (const n of count(50)) await right(store.append('a', 'any', [newEvent(n)]))
    t.deepEqual(delivered(await first), count(50))
    t.deepEqual(delivered(await second), count(50))
  })
}
