import assert from 'node:assert/strict'
import test, { type ExecutionContext } from 'ava'
import type { Either } from 'fp-ts/lib/Either.js'
import * as E from 'fp-ts/lib/Either.js'
import { NO_CHECKPOINT, type Documents } from '../../../application/ports/documents.ts'
import {
  BEGINNING, type EventStore, type Position, type SubscriptionMessage, type NewEvent,
} from '../../../application/ports/event-store.ts'
import { watchLog } from '../../../application/log/watched-log.ts'
import { connectMongo } from '../../../infrastructure/mongodb/connection.ts'
import { createMongoDocuments } from '../../../infrastructure/mongodb/documents.ts'
import { systemTimers as timers } from '../../../infrastructure/process/system-timers.ts'
import { foldLog, differencesOf } from '../../../projections/fold-log.ts'
import { findUnfinishedRebuild, stagedOf } from '../../../projections/rebuild/unfinished-rebuild.ts'
import { lives } from '../../../projections/lives/projection.ts'
import { rebuildReadModel, type RebuildDeps } from '../../../projections/rebuild/rebuild.ts'
import { createMemoryEventStore } from '../../support/doubles/memory/event-store.ts'
import { startMongoDouble } from '../../support/doubles/mongodb/process.ts'
import { right } from '../../support/tools/right.ts'
import { silentLogger } from '../../support/doubles/loggers.ts'
import { checkpointAt } from '../../support/read-models/checkpoints.ts'
import { modelOf } from '../../../projections/projection.ts'
import type { Rebuilt } from '../../../application/ports/projector.ts'
import { createMemoryDocuments } from '../../support/doubles/memory/documents.ts'
import { sealedLive } from '../../support/events/stored-events.ts'
import { createTestEnvironment } from '../../support/doubles/environment.ts'

/** The events of the log: more than three steps of a rebuild. */
const EVENTS = 7000
const environment = createTestEnvironment()
const neverAborted = new AbortController().signal
const metadata = { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: environment.now() }

const createLive = async (store: EventStore, liveId: number): Promise<Position> => {
  const { type, data } = sealedLive({ liveId, userId: 1, at: environment.now() })
  const event: NewEvent = { id: environment.newId(), type, data: { ...data }, metadata }
  return right(await store.append(`live-${liveId}`, 'no-stream', [event])).position
}

interface RebuildWorld {
  readonly store: EventStore
  readonly documents: Documents
}

/** Creates a log and a read model that is up to date. */
const createFilledWorld = async (documents = createMemoryDocuments()): Promise<RebuildWorld> => {
  const store = createMemoryEventStore()
  for (let liveId = 1; liveId <= EVENTS; liveId++) await createLive(store, liveId)
  right(await documents.ensure([lives.collection]))
  const to = right(await store.head())
  await foldLog({ store, documents }, lives, { from: NO_CHECKPOINT, to, signal: neverAborted })
  return { store, documents }
}

type RebuildOptions = Partial<Pick<RebuildDeps, 'code' | 'signal' | 'onProgress'>>

/** Rebuilds the read model of sessions. */
const rebuild = (
  { store, documents }: RebuildWorld,
  { code = 'one', signal = neverAborted, onProgress = () => undefined }: RebuildOptions = {},
): Promise<Either<string, Rebuilt>> =>
  rebuildReadModel({
    store,
    documents,
    projection: lives,
    code,
    environment: { monotonic: () => 0, random: () => 0 },
    timers,
    positionInUse: async () => right(await documents.checkpoint(modelOf(lives))).position,
    exclusively: (run) => run(),
    signal,
    onProgress,
  })

/** Checks that the read model equals the log and that nothing is left of a rebuild. */
const assertRebuilt = async (t: ExecutionContext, { store, documents }: RebuildWorld): Promise<void> => {
  const fresh = createMemoryDocuments()
  right(await fresh.ensure([lives.collection]))
  const head = right(await store.head())
  await foldLog({ store, documents: fresh }, lives, { from: NO_CHECKPOINT, to: head, signal: neverAborted })
  const found: Array<string> = []
  const [actual, expected] = [documents, fresh].map((side) => ({ documents: side, collection: 'lives' }))
  assert.ok(actual !== undefined && expected !== undefined)
  for await (const { id, kind } of differencesOf(actual, expected)) found.push(`${id} ${kind}`)
  t.deepEqual(found, [])
  t.is(right(await documents.checkpoint(modelOf(lives))).position, right(await store.head()))
  t.is(right(await documents.checkpoint(modelOf(stagedOf(lives)))).position, BEGINNING)
}

/** Wraps a store to count delivered events. A subscription ends after `limit` messages; `dropped`: with an error. */
const counting = (store: EventStore, limit = Infinity, how: 'dropped' | 'ended' = 'dropped') => {
  let folded = 0
  const subscribe: EventStore['subscribe'] = async function* (...args): AsyncGenerator<SubscriptionMessage, void> {
    let remaining = limit
    for await (const message of store.subscribe(...args)) {
      if (message.kind === 'event') folded += 1
      yield message
      remaining -= 1
      if (remaining > 0) continue
      if (how === 'ended') return
      throw new Error('dropped', { cause: { _tag: 'StoreUnavailable', reason: 'dropped' } })
    }
  }
  return { store: { ...store, subscribe }, folded: () => folded }
}

/** Wraps a world so that its rebuilding process dies after some committed steps. Its later requests get no answer. */
const dyingAfter = (steps: number, { store, documents }: RebuildWorld) => {
  const death = new AbortController()
  let remaining = steps
  const commit: Documents['commit'] = async (model, ...rest) => {
    if (model.projection !== stagedOf(lives).name) return await documents.commit(model, ...rest)
    if (remaining === 0) return await new Promise<never>((_resolve, reject) => {
      death.abort()
      reject(new Error('killed'))
    })
    remaining -= 1
    return await documents.commit(model, ...rest)
  }
  const discard: Documents['discard'] = async (model) =>
    death.signal.aborted ? await new Promise<never>(() => undefined) : await documents.discard(model)
  return { world: { store, documents: { ...documents, commit, discard } }, signal: death.signal }
}

for (const how of ['dropped', 'ended'] as const)
  test(`a rebuild keeps its progress when subscriptions are ${how}`, async (t) => {
    const world = await createFilledWorld()
    const { store, folded } = counting(world.store, 2500, how)
    t.like(right(await rebuild({ ...world, store })), { resumed: false, corrected: 0, events: EVENTS })
    // Each subscription commits one step of 2,000 events and reads the following 500 again.
    t.true(folded() < EVENTS + 4 * 500, `${folded()} events were read`)
    await assertRebuilt(t, world)
  })

test('a fold reports a subscription that ends before the target position', async (t) => {
  const world = await createFilledWorld()
  const { store } = counting(world.store, 2500, 'ended')
  const stretch = { from: NO_CHECKPOINT, to: right(await world.store.head()), signal: neverAborted }
  right(await world.documents.ensure([stagedOf(lives).collection]))
  const error = await t.throwsAsync(foldLog({ store, documents: world.documents }, stagedOf(lives), stretch))
  t.like(error?.cause, { _tag: 'StoreUnavailable' })
})

test('a rebuild keeps its progress when any request to the read models times out', async (t) => {
  const world = await createFilledWorld()
  const { store, folded } = counting(world.store)
  // The timeouts follow a fixed pseudo-random sequence, so they do not depend on the pattern of the steps.
  let state = 17
  const next = (): number => (state = (state * 16_807) % 2_147_483_647)
  type Request<Args extends ReadonlyArray<unknown>, A> = (...args: Args) => Promise<A>
  const slow = <Args extends ReadonlyArray<unknown>, A>(request: Request<Args, A>) => async (...args: Args) => {
    if (next() % 4 > 0) return await request(...args)
    // A write that times out may still have happened.
    if (next() % 2 === 0) await request(...args)
    return E.left({ _tag: 'DocumentsUnavailable' as const, reason: 'no answer within 1500 ms' })
  }
  const { ensure, commit, checkpoint, find, get, scan } = world.documents
  const documents: Documents = {
    ...world.documents,
    ensure: slow(ensure),
    commit: slow(commit),
    checkpoint: slow(checkpoint),
    find: slow(find),
    get: slow(get),
    scan: slow(scan),
  }
  const rebuilt = await rebuildReadModel({
    store,
    documents,
    projection: lives,
    code: 'one',
    environment: { monotonic: () => 0, random: () => 0 },
    timers: { after: (_ms, task) => timers.after(0, task) },
    positionInUse: async () => right(await checkpoint(modelOf(lives))).position,
    exclusively: (run) => run(),
    signal: neverAborted,
    onProgress: () => undefined,
  })
  t.like(right(rebuilt), { corrected: 0, events: EVENTS })
  t.true(folded() < 4 * EVENTS, `${folded()} events were read`)
  await assertRebuilt(t, world)
})

test('a rebuild resumes after the death of its process, but only with equal code', async (t) => {
  const world = await createFilledWorld()
  const first = dyingAfter(2, world)
  t.true(E.isLeft(await rebuild(first.world, { signal: first.signal })))
  const halfBuilt = { ...world, projection: lives }
  t.is(await findUnfinishedRebuild({ ...halfBuilt, code: 'one' }), 'unfinished')
  await createLive(world.store, EVENTS + 1)
  const second = counting(world.store)
  t.like(right(await rebuild({ ...world, store: second.store })), { resumed: true, events: EVENTS + 1 - 4000 })
  t.is(second.folded(), EVENTS + 1 - 4000)
  await assertRebuilt(t, world)
  t.is(await findUnfinishedRebuild({ ...halfBuilt, code: 'one' }), 'none')

  const third = dyingAfter(2, world)
  t.true(E.isLeft(await rebuild(third.world, { signal: third.signal })))
  t.like(right(await rebuild(world, { code: 'two' })), { resumed: false, events: EVENTS + 1 })
  await assertRebuilt(t, world)

  const fourth = dyingAfter(2, world)
  t.true(E.isLeft(await rebuild(fourth.world, { signal: fourth.signal })))
  t.is(await findUnfinishedRebuild({ ...halfBuilt, code: 'two' }), 'outdated')
  t.is(right(await world.documents.checkpoint(modelOf(stagedOf(lives)))).position, BEGINNING)
  t.is(await findUnfinishedRebuild({ ...halfBuilt, code: 'one' }), 'none')
})

test('a rebuild does not resume past the end of a shorter log', async (t) => {
  const world = await createFilledWorld()
  const first = dyingAfter(2, world)
  t.true(E.isLeft(await rebuild(first.world, { signal: first.signal })))
  const older = createMemoryEventStore()
  for (let liveId = 1; liveId <= 3; liveId++) await createLive(older, liveId)
  // A start that finds the log older than the list in use discards this list.
  right(await world.documents.discard(modelOf(lives)))
  t.like(right(await rebuild({ ...world, store: older })), { resumed: false, events: 3 })
  await assertRebuilt(t, { ...world, store: older })
})

test('a promotion is not repeated, and an empty collection never replaces the documents', async (t) => {
  // A promotion puts the rebuilt documents in the place of the read model.
  const world = await createFilledWorld()
  // This promotion succeeds but reports a failure.
  let promoted = 0
  const promote: Documents['promote'] = async (from, to) => {
    promoted += 1
    right(await world.documents.promote(from, to))
    return E.left({ _tag: 'DocumentsUnavailable', reason: 'no answer' })
  }
  t.like(right(await rebuild({ ...world, documents: { ...world.documents, promote } })), { corrected: 0 })
  t.is(promoted, 1)
  await assertRebuilt(t, world)
  // The collection is renamed but the checkpoint stays, as if the server had died between the two steps.
  const torn: Documents['promote'] = async (from, to) => {
    right(await world.documents.promote(from, to))
    right(await world.documents.ensure([stagedOf(lives).collection]))
    right(await world.documents.commit(from, [], checkpointAt(right(await world.store.head()))))
    return E.left({ _tag: 'DocumentsUnavailable', reason: 'no answer' })
  }
  const outcome = await rebuild({ ...world, documents: { ...world.documents, promote: torn } })
  t.regex(E.isLeft(outcome) ? outcome.left : '', /could not replace the old ones: no answer/)
  t.like(right(await rebuild(world)), { resumed: false, events: EVENTS })
  await assertRebuilt(t, world)
})

const OLD_STAGING = { projection: 'lives-rebuild', collection: 'lives-rebuild' }

test('a half-built read model of an earlier version is discarded', async (t) => {
  const world = await createFilledWorld()
  const old = { name: 'lives-rebuild', indexes: [] }
  right(await world.documents.ensure([old]))
  const position = '00000000000000000005' as Position
  const change = { kind: 'put', collection: old.name, id: '1', document: { id: 1 }, position } as const
  right(await world.documents.commit(OLD_STAGING, [change], checkpointAt(change.position)))
  t.is(await findUnfinishedRebuild({ ...world, projection: lives, code: 'one' }), 'outdated')
  t.is(right(await world.documents.checkpoint(OLD_STAGING)).position, BEGINNING)
  t.is(await findUnfinishedRebuild({ ...world, projection: lives, code: 'one' }), 'none')
  right(await world.documents.ensure([old]))
  right(await world.documents.commit(OLD_STAGING, [change], checkpointAt(change.position)))
  t.like(right(await rebuild(world)), { resumed: false, events: EVENTS })
  t.is(right(await world.documents.checkpoint(OLD_STAGING)).position, BEGINNING)
  await assertRebuilt(t, world)
})

// This test runs serially, because the other tests of this file block the process for longer than the driver waits.
test.serial('a rebuild on MongoDB waits for a killed server and then resumes', async (t) => {
  t.timeout(300_000)
  const double = await startMongoDouble()
  t.teardown(double.dispose)
  const connection = await connectMongo(double.url('test'))
  t.teardown(connection.close)
  const world = { store: (await createFilledWorld()).store, documents: createMongoDocuments(connection) }
  right(await world.documents.ensure([lives.collection]))
  let killed: Promise<void> | null = null
  let held = 0
  let [before, progress]: [number, number] = [0, 0]
  const rebuilt = await rebuild(world, {
    onProgress: (step) => {
      progress = step.events
      if (killed === null && step.events > 0) {
        before = step.events
        killed = double.kill()
      }
      if (step.held === null || killed === null) return
      held += 1
      // The server starts again when the rebuild waits for it.
      if (held === 1) void killed.then(double.start)
    },
  })
  t.true(held > 0 && before > 0 && before < EVENTS && progress === EVENTS)
  // No event is counted twice.
  t.like(right(rebuilt), { resumed: false, events: EVENTS })
  await assertRebuilt(t, world)
})

test('a damaged row of the log stops a rebuild, and the current read model stays', async (t) => {
  const world = await createFilledWorld()
  const row = { stream: 'live-3', position: right(await world.store.read('live-3'))[0]?.position ?? BEGINNING }
  const subscribe: EventStore['subscribe'] = async function* (...args) {
    for await (const message of world.store.subscribe(...args)) {
      if (message.kind === 'event' && message.event.position === row.position)
        throw new Error('damaged', { cause: { _tag: 'LogCorrupted', reason: 'r', row } })
      yield message
    }
  }
  const { store, unreadable } = watchLog({ ...world.store, subscribe }, silentLogger)
  const outcome = await rebuild({ ...world, store })
  t.is(unreadable().length, 1)
  t.regex(E.isLeft(outcome) ? outcome.left : 'rebuilt', /^the event at position 0+3 \(live-3\) is damaged/)
  await assertRebuilt(t, world)
})
