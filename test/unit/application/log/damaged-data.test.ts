import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { startLogDuty } from '../../../../application/log/log-duty.ts'
import {
  BEGINNING, type EventStore, type Position, type SubscriptionMessage,
} from '../../../../application/ports/event-store.ts'
import { watchLog } from '../../../../application/log/watched-log.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { immediateTimers } from '../../../support/doubles/immediate-timers.ts'
import { createMemoryDocuments } from '../../../support/doubles/memory/documents.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { right } from '../../../support/tools/right.ts'
import { createRecordingLogger, silentLogger } from '../../../support/doubles/loggers.ts'
import { append, environment } from '../append-event.ts'

/** Wraps a store in which the events of one type are damaged. */
const damagedAt = (store: EventStore, damagedType: string): EventStore => ({
  ...store,
  subscribe: async function* (from, prefixes, signal) {
    for await (const message of store.subscribe(from, prefixes, signal)) {
      if (message.kind === 'event' && message.event.type === damagedType) {
        const { position, stream } = message.event
        throw new Error('damaged', { cause: { _tag: 'LogCorrupted', reason: 'r', row: { position, stream } } })
      }
      yield message
    }
  },
})

test('a log follower continues after unreadable events and reports each stream once', async (t) => {
  const memory = createMemoryEventStore()
  const logger = createRecordingLogger()
  const watched = watchLog(damagedAt(memory, 'Damaged'), logger)
  const data = { userId: 3, at: environment.now() }
  await append(memory, 'user-3', 'UserDisabled', data)
  for (const stream of ['user-1', 'user-1', 'user-2']) await append(memory, stream, 'Damaged')
  await append(memory, 'user-4', 'InventedLater')
  await append(memory, 'user-5', 'UserDisabled', { userId: 'five' })
  const last = await append(memory, 'user-3', 'UserEnabled', data)
  const read = async (): Promise<ReadonlyArray<string>> => {
    const stop = new AbortController()
    const types: string[] = []
    for await (const message of watched.store.subscribe(BEGINNING, ['user-'], stop.signal)) {
      if (message.kind === 'event') types.push(message.event.type)
      if (message.kind === 'event' && message.event.position === last) stop.abort()
    }
    return types
  }
  // Events of unknown types are delivered: each consumer decides about them.
  for (const _ of [1, 2]) t.deepEqual(await read(), ['UserDisabled', 'InventedLater', 'UserDisabled', 'UserEnabled'])
  t.deepEqual(watched.unreadable().map(({ stream, problem }) => `${stream} ${problem}`), [
    'user-1 damaged', 'user-2 damaged', 'user-4 unknown-event', 'user-5 damaged',
  ])
  t.is(logger.lines.filter(({ level }) => level === 'error').length, 4)
})

test('an older copy of the log is reported once and stays reported, and no subscription continues on it', async (t) => {
  const [memory, copy, logger] = [createMemoryEventStore(), createMemoryEventStore(), createRecordingLogger()]
  let current = memory
  const watched = watchLog({ ...memory, subscribe: (...args) => current.subscribe(...args) }, logger)
  const last = await append(memory, 'user-1', 'UserDisabled')
  const follow = async (): Promise<void> => {
    for await (const _ of watched.store.subscribe(last, ['user-'], new AbortController().signal)) return
  }
  await follow()
  t.false(watched.isOlder())
  current = copy
  for (const _ of [1, 2]) t.like((await t.throwsAsync(follow()))?.cause, { _tag: 'OlderLog' })
  t.true(watched.isOlder())
  t.is(logger.lines.filter(({ level }) => level === 'error').length, 1)
  current = memory
  await follow()
  t.true(watched.isOlder())
})

test('a damaged row that a store repeats endlessly ends the subscription', async (t) => {
  const row = { stream: 'user-1', position: '0001' as Position }
  const subscribe = async function* (): AsyncGenerator<SubscriptionMessage> {
    yield { kind: 'checkpoint', position: '0000' as Position }
    throw new Error('damaged', { cause: { _tag: 'LogCorrupted', reason: 'r', row } })
  }
  const { store, unreadable } = watchLog({ ...createMemoryEventStore(), subscribe }, silentLogger)
  const follow = async (): Promise<void> => {
    let messages = 0
    for await (const _ of store.subscribe(BEGINNING, [''], new AbortController().signal)) if (++messages > 10) return
  }
  await t.throwsAsync(follow(), { message: 'damaged' })
  t.is(unreadable().length, 1)
})

test('damage found by a read is reported too', async (t) => {
  const memory = createMemoryEventStore()
  const { store, unreadable } = watchLog(
    {
      ...memory,
      read: (stream, options) =>
        stream === 'a'
          ? (async () => E.left({ _tag: 'LogCorrupted', reason: 'a flipped bit' }))()
          : memory.read(stream, options),
    },
    silentLogger,
  )
  await append(memory, 'segments-7', 'InventedLater')
  await store.read('a')
  await store.read('segments-7')
  await store.read('seq-user')
  t.deepEqual(unreadable(), [
    { stream: 'a', problem: 'damaged', detail: 'a flipped bit' },
    {
      stream: 'segments-7',
      problem: 'unknown-event',
      detail: 'revision 0 has the unknown type InventedLater: a newer version wrote it',
    },
  ])
})

test('1,000 damaged streams are described; further damaged streams are recognised without a description', async (t) => {
  const read: EventStore['read'] = async () => E.left({ _tag: 'LogCorrupted', reason: 'a flipped bit' })
  const { store, unreadable, hasUnreadable, isDamaged } = watchLog({ ...createMemoryEventStore(), read }, silentLogger)
  for (let liveId = 1; liveId <= 1000; liveId++) await store.read(`live-${liveId}`)
  t.false(hasUnreadable('user'))
  await store.read('user-7')
  t.is(unreadable().length, 1000)
  t.deepEqual(
    [hasUnreadable('user'), hasUnreadable('username'), isDamaged('user-7'), isDamaged('user-8')],
    [true, false, true, false],
  )
})

test('a duty skips work on unreadable data and retries work that a store refused', async (t) => {
  const store = createMemoryEventStore()
  const documents = createMemoryDocuments()
  const logger = createRecordingLogger()
  for (const liveId of [1, 2, 3])
    await append(store, `live-${liveId}`, 'LiveDeleted', {
      liveId,
      userId: 1,
      at: environment.now(),
      lastStatus: 'finished',
    })
  const tried: string[] = []
  const failures = [
    ['live-1', { _tag: 'LogCorrupted', reason: 'r' }], ['live-2', { _tag: 'StoreUnavailable', reason: 'r' }],
  ] as const
  const duty = startLogDuty({ store, documents, environment, logger, timers: immediateTimers }, {
    name: 'test-duty',
    prefixes: ['live-'],
    concerns: () => true,
    perform: async ({ stream }) => {
      tried.push(stream)
      const failure = failures.find(([failing]) => failing === stream)
      if (failure !== undefined && tried.filter((entry) => entry === stream).length === 1)
        throw new Error('refused', { cause: failure[1] })
    },
    failure: 'not done',
  })
  await eventually(() => { if (!tried.includes('live-3')) throw new Error('session 3 is not done yet') })
  await duty.stop()
  t.deepEqual(tried, ['live-1', 'live-2', 'live-2', 'live-3'])
  t.deepEqual(logger.lines.map(({ level }) => level).filter((level) => level === 'error'), ['error'])
})

for (const obstacle of ['a damaged row', 'an event of a newer version', 'data that cannot be read'] as const)
  test(`a duty that skipped ${obstacle} handles all later events, and repeats them at the next start`, async (t) => {
    const memory = createMemoryEventStore()
    const documents = createMemoryDocuments()
    const logger = createRecordingLogger()
    const positions: Position[] = []
    for (const liveId of [1, 2, 3]) {
      const type = liveId === 2 && obstacle !== 'data that cannot be read' ? 'InventedLater' : 'LiveDeleted'
      const stream = `live-${liveId}`
      positions.push(
        await append(memory, stream, type, { liveId, userId: 1, at: environment.now(), lastStatus: 'finished' }),
      )
    }
    let isRepaired = false
    const runDuty = async (): Promise<ReadonlyArray<string>> => {
      const store =
        obstacle === 'a damaged row' && !isRepaired
          ? watchLog(damagedAt(memory, 'InventedLater'), logger).store
          : memory
      const done: string[] = []
      const duty = startLogDuty(
        { store, documents, environment, logger, timers: immediateTimers },
        {
          name: 'test-duty',
          prefixes: ['live-'],
          concerns: ({ type }) => isRepaired || type === 'LiveDeleted',
          perform: async ({ stream }) => {
            if (stream === 'live-2' && !isRepaired)
              throw new Error('refused', { cause: { _tag: 'LogCorrupted', reason: 'r' } })
            done.push(stream)
          },
          failure: 'not done',
        },
      )
      await eventually(() => {
        if (!done.includes('live-3')) throw new Error('session 3 is not done yet')
      })
      await duty.stop()
      return done
    }
    t.deepEqual(await runDuty(), ['live-1', 'live-3'])
    t.deepEqual(
      [right(await documents.checkpoint({ projection: 'test-duty', collection: null })).position],
      positions.slice(0, 1),
    )
    isRepaired = true
    t.deepEqual(await runDuty(), ['live-2', 'live-3'])
  })
