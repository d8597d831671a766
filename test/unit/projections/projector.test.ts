import assert from 'node:assert/strict'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { Documents } from '../../../application/ports/documents.ts'
import type { EventStore, Position } from '../../../application/ports/event-store.ts'
import { SESSION_LISTS } from '../../../application/ports/projector.ts'
import { lives } from '../../../projections/lives/projection.ts'
import type { Projection } from '../../../projections/projection.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { createMemoryDocuments } from '../../support/doubles/memory/documents.ts'
import { createMemoryEventStore } from '../../support/doubles/memory/event-store.ts'
import { committed, throughCommit } from '../../support/read-models/through-commit.ts'
import { right } from '../../support/tools/right.ts'
import { createTestEnvironment } from '../../support/doubles/environment.ts'

import { create, environment, hasLive, newEvent, start, unavailable } from './projector-world.ts'

test('each of 100 reads sees the write before it', async (t) => {
  const { store, documents, projector } = start(t)
  await projector.caughtUp()
  for (let liveId = 1; liveId <= 100; liveId++) {
    await projector.whenProjected(SESSION_LISTS, await create(store, liveId))
    if (!(await hasLive(documents, liveId))) t.fail(`session ${liveId} was not read`)
  }
  t.is(projector.timeouts(), 0)
})

test('a backlog is read in large batches, with one change for each document', async (t) => {
  const store = createMemoryEventStore()
  for (let liveId = 1; liveId <= 600; liveId++) {
    await create(store, liveId)
    const about = { liveId, userId: 3, at: environment.now() }
    const started = newEvent({ type: 'LiveStarted', data: about })
    const finished = newEvent({ type: 'LiveFinished', data: { ...about, reason: 'restart' } })
    right(await store.append(`live-${liveId}`, 0, [started, finished]))
  }
  const inner = createMemoryDocuments()
  const sizes: Array<number> = []
  const documents = throughCommit(inner, (commit) => {
    sizes.push(commit.changes.length)
    t.is(new Set(commit.changes.map(({ id }) => id)).size, commit.changes.length)
    return committed(inner, commit)
  })
  const { projector } = start(t, { store, documents, projections: [lives] })
  await projector.caughtUp()
  t.true(sizes.length <= 5, `${sizes.length} steps for 1800 events`)
  const finished = {
    filter: { status: 'finished' },
    sort: { by: 'id', direction: 'ascending' as const },
    skip: 0,
    limit: 1000,
  }
  t.is(right(await documents.page('lives', finished)).length, 600)
})

test('writes to unavailable read models are retried, and the lag shows the error meanwhile', async (t) => {
  const inner = createMemoryDocuments()
  let isUnavailable = false
  const documents = throughCommit(inner, async (commit) =>
    isUnavailable ? E.left(unavailable) : await committed(inner, commit))
  const { store, projector, logger } = start(t, { documents })
  await projector.caughtUp()
  t.true(projector.lag().every(({ secondsBehind, error }) => secondsBehind === 0 && error === null))

  isUnavailable = true
  const position = await create(store, 1)
  await eventually(() => { assert.match(projector.lag()[0]?.error ?? '', /the test stopped the documents/) })
  environment.advance(5000)
  t.true((projector.lag()[0]?.secondsBehind ?? 0) >= 5)
  t.true((projector.lag()[0]?.failures ?? 0) >= 1)
  await eventually(() => { assert((projector.lag()[0]?.failures ?? 0) >= 5) })

  isUnavailable = false
  await eventually(() => {
    assert(projector.lag().every((lag) => lag.position >= position && lag.error === null && lag.secondsBehind === 0))
  })
  t.true(await hasLive(documents, 1))
  const told = logger.lines.filter(({ fields }) => fields['projection'] === 'lives')
  t.deepEqual(told.map(({ level, message }) => [level, message]), [
    ['warn', 'projection failed, retrying'],
    ['info', 'projection works again'],
  ])
})

test('a projection that fails on an event does not stop another projection', async (t) => {
  const poisoned: Projection = {
    ...lives,
    name: 'poisoned',
    collection: { name: 'poisoned', indexes: [] },
    project: () => { throw new Error('a failing projection') },
  }
  const { store, documents, projector } = start(t, { projections: [poisoned, lives] })
  await projector.caughtUp()
  await create(store, 1)
  await eventually(async () => { assert(await hasLive(documents, 1)) })
  await eventually(() => { assert.match(projector.lag()[0]?.error ?? '', /a failing projection/) })
  t.is(projector.lag()[1]?.error, null)
})

test('a subscription that fails or ends is opened again at its position', async (t) => {
  const inner = createMemoryEventStore()
  const startPositions: Array<Position> = []
  const store: EventStore = {
    ...inner,
    subscribe: async function* (from, prefixes, signal) {
      startPositions.push(from)
      const opened = startPositions.length
      let messagesLeft = 3
      for await (const message of inner.subscribe(from, prefixes, signal)) {
        yield message
        messagesLeft -= 1
        if (messagesLeft === 0 && opened % 2 === 0) return
        if (messagesLeft === 0)
          throw new Error('the subscription ended', { cause: { _tag: 'StoreUnavailable', reason: 'dropped' } })
      }
    },
  }
  const { documents, projector, logger } = start(t, { store, projections: [lives] })
  await projector.caughtUp()
  for (let liveId = 1; liveId <= 8; liveId++) await create(inner, liveId)
  await eventually(async () => { for (let liveId = 1; liveId <= 8; liveId++) assert(await hasLive(documents, liveId)) })
  t.deepEqual(
    startPositions,
    startPositions.toSorted(),
    'each subscription continues at or after the previous position',
  )
  t.is(new Set(startPositions).size, startPositions.length)
  t.true(logger.lines.some(({ fields }) => String(fields['reason']).includes('dropped')))
})

test('after an outage of the log during which nothing was written, the lag shows no error', async (t) => {
  const inner = createMemoryEventStore()
  let outage = new AbortController()
  const store: EventStore = {
    ...inner,
    subscribe: (from, prefixes, signal) => inner.subscribe(from, prefixes, AbortSignal.any([signal, outage.signal])),
  }
  const { projector, logger } = start(t, { store, projections: [lives] })
  await projector.whenProjected(SESSION_LISTS, await create(inner, 1))

  const ended = outage
  outage = new AbortController()
  ended.abort()
  await eventually(() => {
    const [lag] = projector.lag()
    assert(lag !== undefined && lag.failures > 0 && lag.error === null && lag.secondsBehind === 0)
  })
  t.deepEqual(logger.lines.map(({ message }) => message), ['projection failed, retrying', 'projection works again'])
})

test('a restart continues from the checkpoint', async (t) => {
  const store = createMemoryEventStore()
  const documents = createMemoryDocuments()
  const first = start(t, { store, documents })
  const position = await create(store, 1)
  await first.projector.whenProjected(SESSION_LISTS, position)
  first.stop.abort()
  await first.projector.stopped

  const startPositions: Array<Position> = []
  const watched: EventStore = {
    ...store,
    subscribe: (from, ...rest) => {
      startPositions.push(from)
      return store.subscribe(from, ...rest)
    },
  }
  const second = start(t, { store: watched, documents, projections: [lives] })
  await second.projector.caughtUp()
  t.deepEqual(startPositions, [position])
})

test('an older copy of the log stops a projection, which reports it and drops nothing', async (t) => {
  const before = start(t, { projections: [lives] })
  await before.projector.whenProjected(SESSION_LISTS, await create(before.store, 1))
  const { projector, documents } = start(t, { documents: before.documents, projections: [lives] })
  await eventually(() => assert.match(String(projector.lag()[0]?.error), /older copy/))
  t.true(await hasLive(documents, 1))
})

test('a checkpoint that the store sends advances a projection past the events of other streams', async (t) => {
  const inner = createMemoryEventStore()
  const store: EventStore = {
    ...inner,
    subscribe: async function* (...request) {
      for await (const message of inner.subscribe(...request)) {
        yield message
        if (message.kind === 'caught-up') yield { kind: 'checkpoint', position: right(await inner.head()) }
      }
    },
  }
  const { projector } = start(t, { store })
  await projector.caughtUp()
  const elsewhere = newEvent({ type: 'CapacitySet', data: {} })
  const { position } = right(await store.append('admission', 'no-stream', [elsewhere]))
  await projector.whenProjected(SESSION_LISTS, position)
  t.is(projector.timeouts(), 0)
})

test('an event of one projection advances all of them; later events of no projection leave no lag', async (t) => {
  const store = createMemoryEventStore()
  const position = await create(store, 1)
  const elsewhere = { type: 'CapacitySet', data: {} }
  for (let n = 0; n < 100; n++) right(await store.append('admission', 'any', [newEvent(elsewhere)]))
  const { projector } = start(t, { store })
  await projector.caughtUp()
  for (const lag of projector.lag()) t.like(lag, { position, secondsBehind: 0, error: null })
  await projector.whenProjected(SESSION_LISTS, await create(store, 2))
  t.is(projector.timeouts(), 0)
})

test('a caller that waits for a stuck projection continues after a counted timeout', async (t) => {
  const inner = createMemoryDocuments()
  let isUnavailable = false
  const documents = throughCommit(inner, async (commit) =>
    isUnavailable ? E.left(unavailable) : await committed(inner, commit))
  const { store, projector } = start(t, { documents })
  await projector.caughtUp()
  isUnavailable = true
  await projector.whenProjected(SESSION_LISTS, await create(store, 1))
  t.is(projector.timeouts(), 1)
})

test('a projection stops at the signal, even during retries', async (t) => {
  const documents: Documents = { ...createMemoryDocuments(), ensure: async () => E.left(unavailable) }
  const { projector, stop } = start(t, { documents })
  await eventually(() => { assert(projector.lag()[0]?.error) })
  const waiting = projector.caughtUp()
  stop.abort()
  await projector.stopped
  await waiting
  t.pass()
})

test('events without changes only advance the checkpoint, every 500 events or five seconds', async (t) => {
  const inner = createMemoryDocuments()
  const commits: Array<number> = []
  const documents = throughCommit(inner, (commit) => {
    commits.push(commit.changes.length)
    return committed(inner, commit)
  })
  const own = createTestEnvironment()
  const { store, projector } = start(t, { documents, projections: [lives], environment: own })
  await projector.whenProjected(SESSION_LISTS, await create(store, 1))
  const attached = {
    type: 'SenderAttached',
    data: { liveId: 1, userId: 3, at: environment.now(), epoch: 1, instance: 'i' },
  }
  for (let n = 0; n < 650; n++) {
    if (n === 600) own.advance(5000)
    const { position } = right(await store.append('live-1', n, [newEvent(attached)]))
    await projector.whenProjected(SESSION_LISTS, position)
  }
  t.deepEqual(commits, [1, 0, 0])
})
