import assert from 'node:assert/strict'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { Commit, Documents } from '../../../application/ports/documents.ts'
import type { EventStore, Position } from '../../../application/ports/event-store.ts'
import type { Timers } from '../../../application/ports/timers.ts'
import { SESSION_LISTS } from '../../../application/ports/projector.ts'
import { systemTimers } from '../../../infrastructure/process/system-timers.ts'
import { allProjections } from '../../../projections/all-projections.ts'
import { catchingUpAfterStart } from '../../../projections/once-current.ts'
import { liveCounts, liveTotals } from '../../../projections/live-counts/projection.ts'
import { liveTokens } from '../../../projections/live-tokens/projection.ts'
import { lives } from '../../../projections/lives/projection.ts'
import type { Projection } from '../../../projections/projection.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { createMemoryDocuments } from '../../support/doubles/memory/documents.ts'
import { createMemoryEventStore } from '../../support/doubles/memory/event-store.ts'
import { committed, throughCommit } from '../../support/read-models/through-commit.ts'
import { right } from '../../support/tools/right.ts'
import { create, environment, hasLive, newEvent, start, unavailable } from './projector-world.ts'

/** Counts the reads of the log: where they began, and how many are open. */
const counted = (inner: EventStore) => {
  const startPositions: Array<Position> = []
  let open = 0
  const store: EventStore = {
    ...inner,
    subscribe: async function* (from, ...rest) {
      startPositions.push(from)
      open += 1
      try {
        yield* inner.subscribe(from, ...rest)
      } finally {
        open -= 1
      }
    },
  }
  const untilOneIsOpen = (): Promise<void> => eventually(() => { assert.equal(open, 1) })
  return { store, startPositions, untilOneIsOpen }
}

const started = async (store: EventStore, liveId: number): Promise<Position> => {
  const data = { liveId, userId: 3, at: environment.now() }
  return right(await store.append(`live-${liveId}`, 0, [newEvent({ type: 'LiveStarted', data })])).position
}

test('all lists share one read of the log, which writes once for 1,000 events', async (t) => {
  const inner = createMemoryEventStore()
  for (let liveId = 1; liveId <= 3500; liveId++) await create(inner, liveId)
  const { store, startPositions } = counted(inner)
  const memory = createMemoryDocuments()
  const commits: Array<ReadonlyArray<Commit>> = []
  const documents: Documents = {
    ...memory,
    commitAll: (together) => {
      commits.push(together)
      return memory.commitAll(together)
    },
  }
  const { projector } = start(t, { store, documents })
  await projector.caughtUp()
  t.is(startPositions.length, 1)
  t.true(commits.length <= 5, `${commits.length} commits for 3,500 events`)
  for (const together of commits) {
    t.deepEqual(together.map(({ whose }) => whose.projection), allProjections.map(({ name }) => name))
    t.is(new Set(together.map(({ checkpoint }) => checkpoint.position)).size, 1)
  }
  await projector.whenProjected(SESSION_LISTS, await create(inner, 4000))
  t.true(await hasLive(documents, 4000))
  t.is(startPositions.length, 1)
})

test('while a batch is written, the next one is read and folded, also if it changes the same documents', async (t) => {
  const inner = createMemoryEventStore()
  for (let liveId = 1; liveId <= 1000; liveId++) await create(inner, liveId)
  for (let liveId = 1; liveId <= 1000; liveId++) await started(inner, liveId)
  const memory = createMemoryDocuments()
  const writing = Promise.withResolvers<void>()
  let commits = 0
  const documents: Documents = {
    ...memory,
    commitAll: async (together) => {
      commits += 1
      await writing.promise
      return await memory.commitAll(together)
    },
  }
  let read = 0
  const store: EventStore = {
    ...inner,
    subscribe: async function* (...request) {
      for await (const message of inner.subscribe(...request)) {
        if (message.kind === 'event') read += 1
        yield message
      }
    },
  }
  const { projector } = start(t, { store, documents })
  await eventually(() => { assert.equal(read, 2000) })
  t.is(commits, 1)
  writing.resolve()
  await projector.caughtUp()
  for (const liveId of [1, 500, 1000])
    t.like(right(await documents.find('lives', [String(liveId)])).get(String(liveId)), { status: 'active' })
  t.like(right(await documents.find('live-counts', ['3'])).get('3'), { pending: [] })
})

test('the batch after one that could not be folded is folded from its documents', async (t) => {
  const store = createMemoryEventStore()
  for (let liveId = 1; liveId <= 1000; liveId++) await create(store, liveId)
  for (let liveId = 1; liveId <= 1000; liveId++) await started(store, liveId)
  const memory = createMemoryDocuments()
  let hasFailed = false
  const documents: Documents = {
    ...memory,
    find: (collection, ids) => {
      if (hasFailed || collection !== 'lives') return memory.find(collection, ids)
      hasFailed = true
      throw new Error('it fails once')
    },
  }
  const { projector } = start(t, { store, documents })
  await projector.caughtUp()
  t.true(hasFailed)
  for (const liveId of [1, 500, 1000])
    t.like(right(await documents.find('lives', [String(liveId)])).get(String(liveId)), { status: 'active' })
})

/** The waits between retries are short, and a writer waits long, because the machine may be busy. */
const quickRetries: Timers =
  { after: (ms, task) => systemTimers.after(ms === 1500 ? 60_000 : Math.min(ms, 50), task) }

/** Fails all writes and folds of one document of the list of sessions, until `mend`. */
const poisonedDocument = (id: string) => {
  const memory = createMemoryDocuments()
  let isPoisoned = true
  const documents: Documents = {
    ...memory,
    find: (collection, ids) => {
      if (isPoisoned && collection === 'lives' && ids.includes(id)) throw new Error('the document is damaged')
      return memory.find(collection, ids)
    },
  }
  return { documents, mend: () => { isPoisoned = false } }
}

test('a list that is stuck delays only itself, says where, and joins the others after it was mended', async (t) => {
  const { store, startPositions, untilOneIsOpen } = counted(createMemoryEventStore())
  const { documents, mend } = poisonedDocument('7')
  const { projector, logger } = start(t, { store, documents, timers: quickRetries })
  await projector.caughtUp()
  await projector.whenProjected(SESSION_LISTS, await create(store, 6))
  const stuck = await create(store, 7)
  const lagOf = (name: string) => projector.lag().find(({ projection }) => projection === name)
  await eventually(() => {
    assert.deepEqual(lagOf('lives')?.stuckAt, { stream: 'live-7', revision: 0, document: '7' })
  })
  t.true(logger.lines.some(({ level, fields }) => level === 'error' && fields['stream'] === 'live-7'
    && fields['projection'] === 'lives' && fields['document'] === '7' && /damaged/.test(String(fields['reason']))))
  const later = await create(store, 8)
  await projector.whenProjected(SESSION_LISTS, later)
  t.is(projector.timeouts(), 0, 'nobody waits for the stuck list')
  for (const { name } of allProjections.filter((projection) => projection.name !== 'lives'))
    t.like(lagOf(name), { error: null, stuckAt: null, position: later })
  t.true(lagOf('lives') !== undefined && (lagOf('lives')?.position ?? '') < stuck)
  t.is(startPositions.length, 2, 'the stuck list reads alone')

  mend()
  await eventually(() => { assert.deepEqual([lagOf('lives')?.stuckAt, lagOf('lives')?.position], [null, later]) })
  await projector.whenProjected(SESSION_LISTS, await create(store, 9))
  for (const liveId of [6, 7, 8, 9]) t.true(await hasLive(documents, liveId))
  t.is(startPositions.length, 2)
  await t.notThrowsAsync(untilOneIsOpen(), 'the mended list has joined the common read')
})

for (const reason of ['a store that refuses it', 'a document that cannot be folded']) {
  test(`a list that fails because of ${reason} delays no write of another kind, nor the next one`, async (t) => {
    const isRefused = reason.startsWith('a store')
    const memory = createMemoryDocuments()
    const refusing = throughCommit(memory, async (commit) =>
      isRefused && isFailing && commit.whose.projection === 'user-totals-2'
        ? E.left(unavailable)
        : await committed(memory, commit))
    let isFailing = false
    const other: Projection = {
      ...lives,
      name: 'user-totals-2',
      collection: { name: 'other', indexes: [] },
      project: (...given) => {
        if (isFailing && !isRefused) throw new Error('the document is damaged')
        return lives.project(...given)
      },
    }
    // No retry ever comes.
    const timers: Timers = { after: (ms, task) => systemTimers.after(ms === 1500 ? 8000 : 3_600_000, task) }
    const projections = [lives, liveTokens, liveCounts, liveTotals, other]
    const { store, projector } = start(t, { documents: refusing, projections, timers })
    await projector.caughtUp()
    isFailing = true
    for (const liveId of [1, 2, 3]) {
      await projector.whenProjected(SESSION_LISTS, await create(store, liveId))
      t.true(await hasLive(refusing, liveId))
    }
    t.is(projector.timeouts(), 0)
    t.not(projector.lag().find(({ projection }) => projection === 'user-totals-2')?.error, null)
  })
}

test('an outage of the documents is no reason to leave the common read, and names no event', async (t) => {
  const { store, startPositions } = counted(createMemoryEventStore())
  const memory = createMemoryDocuments()
  let isUnavailable = false
  const documents: Documents = {
    ...memory,
    commitAll: (together) =>
      isUnavailable ? (async () => together.map(() => E.left(unavailable)))() : memory.commitAll(together),
  }
  const { projector } = start(t, { store, documents })
  await projector.caughtUp()
  isUnavailable = true
  const position = await create(store, 1)
  await eventually(() => { assert.ok(projector.lag().every(({ failures }) => failures > 4)) })
  t.true(projector.lag().every(({ stuckAt }) => stuckAt === null))
  isUnavailable = false
  await eventually(() => { assert.ok(projector.lag().every((lag) => lag.position === position)) })
  t.true(await hasLive(documents, 1))
  t.is(startPositions.length, 1)
})

test('a search for unfinished rebuilds says nothing about lists that cannot be written', async (t) => {
  const memory = createMemoryDocuments()
  let isUnavailable = false
  const documents = throughCommit(memory, async (commit) =>
    isUnavailable ? E.left(unavailable) : await committed(memory, commit))
  // No retry ever comes.
  const timers: Timers = { after: () => () => undefined }
  const { store, projector, logger } = start(t, { documents, timers })
  await projector.caughtUp()
  isUnavailable = true
  await create(store, 1)
  const errors = () => projector.lag().map(({ error }) => error)
  await eventually(() => { assert.ok(!errors().includes(null)) })
  await projector.finishRebuilds()
  t.false(errors().includes(null))
  t.false(logger.lines.some(({ message }) => message === 'projection works again'))
})

test('a list that starts at an older checkpoint reads alone until it has caught up', async (t) => {
  const { store, startPositions, untilOneIsOpen } = counted(createMemoryEventStore())
  const documents = createMemoryDocuments()
  const [added, ...others] = allProjections
  assert.ok(added)
  const before = start(t, { store, documents, projections: others })
  const last = await create(store, 1)
  await before.projector.whenProjected(SESSION_LISTS, last)
  before.stop.abort()
  await before.projector.stopped
  startPositions.length = 0
  const { projector } = start(t, { store, documents })
  await projector.caughtUp()
  t.deepEqual(startPositions.toSorted(), ['', last])
  await projector.whenProjected(SESSION_LISTS, await create(store, 2))
  t.true(await hasLive(documents, 1) && await hasLive(documents, 2))
  await t.notThrowsAsync(untilOneIsOpen(), 'it has joined the common read')
})

test('while lists are first built, they say how far they are, and no write waits for them', async (t) => {
  const store = createMemoryEventStore()
  for (let liveId = 1; liveId <= 2500; liveId++) await create(store, liveId)
  const memory = createMemoryDocuments()
  const writing = Promise.withResolvers<void>()
  let commits = 0
  const documents: Documents = {
    ...memory,
    commitAll: async (together) => {
      commits += 1
      if (commits > 1) await writing.promise
      return await memory.commitAll(together)
    },
  }
  const slow: ReadonlyArray<Projection> = allProjections
  const { projector, logger } = start(t, { store, documents, projections: slow })
  await eventually(() => { assert.equal(projector.lag()[0]?.share, 0.4) })
  const why = catchingUpAfterStart(slow, projector)
  t.like(why('lives'), { _tag: 'DocumentsUnavailable', share: 0.4 })
  await projector.whenProjected(SESSION_LISTS, await create(store, 3000))
  t.is(projector.timeouts(), 0)
  t.true(logger.lines.some(({ level, fields }) => level === 'info' && fields['percent'] === 0))
  writing.resolve()
  await projector.caughtUp()
  t.is(why('lives'), null)
  t.true(projector.lag().every(({ share }) => share === null))
})
