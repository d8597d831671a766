import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { NO_CHECKPOINT } from '../../../application/ports/documents.ts'
import type { Documents } from '../../../application/ports/documents.ts'
import { BEGINNING } from '../../../application/ports/event-store.ts'
import type { EventStore, Position, SubscriptionMessage } from '../../../application/ports/event-store.ts'
import { watchLog } from '../../../application/log/watched-log.ts'
import { connectMongo } from '../../../infrastructure/mongodb/connection.ts'
import { createMongoDocuments } from '../../../infrastructure/mongodb/documents.ts'
import { systemTimers as timers } from '../../../infrastructure/node/system-timers.ts'
import { foldLog } from '../../../projections/fold-log.ts'
import { findUnfinishedRebuild, stagedOf } from '../../../projections/rebuild/unfinished-rebuild.ts'
import { lives } from '../../../projections/lives/projection.ts'
import { rebuildReadModel } from '../../../projections/rebuild/rebuild.ts'
import { createMemoryEventStore } from '../../support/doubles/memory/event-store.ts'
import { startMongoDouble } from '../../support/doubles/mongodb/process.ts'
import { right } from '../../support/tools/right.ts'
import {
  EVENTS, createLive, createFilledWorld, assertRebuilt, never, rebuild,
} from '../../support/read-models/rebuild-world.ts'
import type { RebuildWorld } from '../../support/read-models/rebuild-world.ts'
import { silentLogger } from '../../support/doubles/loggers.ts'
import { checkpointAt } from '../../support/read-models/checkpoints.ts'
import { modelOf } from '../../../projections/projection.ts'

/** How often each event is folded; `limit` ends subscriptions after so many messages. */
const counting = (store: EventStore, limit = Infinity, how: 'dropped' | 'ended' = 'dropped') => {
  let folded = 0
  const subscribe: EventStore['subscribe'] = async function* (...asked): AsyncGenerator<SubscriptionMessage, void> {
    let left = limit
    for await (const message of store.subscribe(...asked)) {
      if (message.kind === 'event') folded += 1
      yield message
      left -= 1
      if (left > 0) continue
      if (how === 'ended') return
      throw new Error('dropped', { cause: { _tag: 'StoreUnavailable', reason: 'dropped' } })
    }
  }
  return { store: { ...store, subscribe }, folded: () => folded }
}

/** Of the process that rebuilds, once so many steps of it are kept: as killed, nothing of it happens any more. */
const dyingAfter = (steps: number, { store, documents }: RebuildWorld) => {
  const death = new AbortController()
  let left = steps
  const commit: Documents['commit'] = (whose, ...rest) => async () => {
    if (whose.projection !== stagedOf(lives).name) return await documents.commit(whose, ...rest)()
    if (left === 0) return await new Promise<never>((_resolve, reject) => {
      death.abort()
      reject(new Error('killed'))
    })
    left -= 1
    return await documents.commit(whose, ...rest)()
  }
  const discard: Documents['discard'] = (model) => async () =>
    death.signal.aborted ? await new Promise<never>(() => undefined) : await documents.discard(model)()
  return { world: { store, documents: { ...documents, commit, discard } }, signal: death.signal }
}

for (const how of ['dropped', 'ended'] as const)
  test(`a rebuild keeps what it has when subscriptions are ${how}`, async (t) => {
    const world = await createFilledWorld()
    const { store, folded } = counting(world.store, 2500, how)
    t.like(right(await rebuild({ ...world, store })), { resumed: false, corrected: 0, events: EVENTS })
    // Each subscription gives one step of 2,000, and what came behind it again.
    t.true(folded() < EVENTS + 4 * 500, `${folded()} events were read`)
    await assertRebuilt(t, world)
  })

test('a fold whose subscription ends before it is there says so', async (t) => {
  const world = await createFilledWorld()
  const { store } = counting(world.store, 2500, 'ended')
  const stretch = { from: NO_CHECKPOINT, to: right(await world.store.head()()), signal: never }
  right(await world.documents.ensure([stagedOf(lives).collection])())
  const error = await t.throwsAsync(foldLog({ store, documents: world.documents }, stagedOf(lives), stretch))
  t.like(error?.cause, { _tag: 'StoreUnavailable' })
})

test('a rebuild keeps what it has when requests to the read models time out, wherever that happens', async (t) => {
  const world = await createFilledWorld()
  const { store, folded } = counting(world.store)
  // The same each time, and no pattern that a step could fall in with.
  let state = 17
  const next = (): number => (state = (state * 16_807) % 2_147_483_647)
  type Request<Args extends ReadonlyArray<unknown>, A> = (...args: Args) => () => Promise<A>
  const slow = <Args extends ReadonlyArray<unknown>, A>(request: Request<Args, A>) => (...args: Args) => async () => {
    if (next() % 4 > 0) return await request(...args)()
    // The write may have been made all the same.
    if (next() % 2 === 0) await request(...args)()
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
    standing: async () => right(await checkpoint(modelOf(lives))()).position,
    exclusively: (run) => run(),
    signal: never,
    onProgress: () => undefined,
  })
  t.like(right(rebuilt), { corrected: 0, events: EVENTS })
  t.true(folded() < 4 * EVENTS, `${folded()} events were read`)
  await assertRebuilt(t, world)
})

test('a rebuild whose process died goes on behind what is built, and only the same code does so', async (t) => {
  const world = await createFilledWorld()
  const first = dyingAfter(2, world)
  t.true(E.isLeft(await rebuild(first.world, { signal: first.signal })))
  const half = { ...world, projection: lives }
  t.is(await findUnfinishedRebuild({ ...half, code: 'one' }), 'unfinished')
  await createLive(world.store, EVENTS + 1)
  const second = counting(world.store)
  t.like(right(await rebuild({ ...world, store: second.store })), { resumed: true, events: EVENTS + 1 - 4000 })
  t.is(second.folded(), EVENTS + 1 - 4000)
  await assertRebuilt(t, world)
  t.is(await findUnfinishedRebuild({ ...half, code: 'one' }), 'none')

  const third = dyingAfter(2, world)
  t.true(E.isLeft(await rebuild(third.world, { signal: third.signal })))
  t.like(right(await rebuild(world, { code: 'two' })), { resumed: false, events: EVENTS + 1 })
  await assertRebuilt(t, world)

  const fourth = dyingAfter(2, world)
  t.true(E.isLeft(await rebuild(fourth.world, { signal: fourth.signal })))
  t.is(await findUnfinishedRebuild({ ...half, code: 'two' }), 'outdated')
  t.is(right(await world.documents.checkpoint(modelOf(stagedOf(lives)))()).position, BEGINNING)
  t.is(await findUnfinishedRebuild({ ...half, code: 'one' }), 'none')
})

test('a rebuild goes on behind no more than the log holds', async (t) => {
  const world = await createFilledWorld()
  const first = dyingAfter(2, world)
  t.true(E.isLeft(await rebuild(first.world, { signal: first.signal })))
  const older = createMemoryEventStore()
  for (let liveId = 1; liveId <= 3; liveId++) await createLive(older, liveId)
  t.like(right(await rebuild({ ...world, store: older })), { resumed: false, events: 3 })
  await assertRebuilt(t, { ...world, store: older })
})

test('documents in their place are not put there again, and an empty name is never taken for them', async (t) => {
  const world = await createFilledWorld()
  // It is done, and says otherwise.
  let promoted = 0
  const promote: Documents['promote'] = (from, to) => async () => {
    promoted += 1
    right(await world.documents.promote(from, to)())
    return E.left({ _tag: 'DocumentsUnavailable', reason: 'no answer' })
  }
  t.like(right(await rebuild({ ...world, documents: { ...world.documents, promote } })), { corrected: 0 })
  t.is(promoted, 1)
  await assertRebuilt(t, world)
  // The name was given away, the checkpoint left, as a server does that dies in between.
  const torn: Documents['promote'] = (from, to) => async () => {
    right(await world.documents.promote(from, to)())
    right(await world.documents.ensure([stagedOf(lives).collection])())
    right(await world.documents.commit(from, [], checkpointAt(right(await world.store.head()())))())
    return E.left({ _tag: 'DocumentsUnavailable', reason: 'no answer' })
  }
  const outcome = await rebuild({ ...world, documents: { ...world.documents, promote: torn } })
  t.regex(E.isLeft(outcome) ? outcome.left : '', /could not be put in its place: no answer/)
  t.like(right(await rebuild(world)), { resumed: false, events: EVENTS })
  await assertRebuilt(t, world)
})

const UNNOTED = { projection: 'lives-rebuild', collection: 'lives-rebuild' }

test('what an earlier version has left half built is discarded, and is in the way of nothing', async (t) => {
  const world = await createFilledWorld()
  const old = { name: 'lives-rebuild', indexes: [] }
  right(await world.documents.ensure([old])())
  const position = '00000000000000000005' as Position
  const change = { kind: 'put', collection: old.name, id: '1', document: { id: 1 }, position } as const
  right(await world.documents.commit(UNNOTED, [change], checkpointAt(change.position))())
  t.is(await findUnfinishedRebuild({ ...world, projection: lives, code: 'one' }), 'outdated')
  t.is(right(await world.documents.checkpoint(UNNOTED)()).position, BEGINNING)
  t.is(await findUnfinishedRebuild({ ...world, projection: lives, code: 'one' }), 'none')
  right(await world.documents.ensure([old])())
  right(await world.documents.commit(UNNOTED, [change], checkpointAt(change.position))())
  t.like(right(await rebuild(world)), { resumed: false, events: EVENTS })
  t.is(right(await world.documents.checkpoint(UNNOTED)()).position, BEGINNING)
  await assertRebuilt(t, world)
})

// Alone: the other tests of this file keep the process busy for longer than the driver waits for a server.
test.serial('a rebuild on MongoDB waits for a server that was killed, and goes on behind what is built', async (t) => {
  t.timeout(300_000)
  const double = await startMongoDouble()
  t.teardown(double.dispose)
  const connection = await connectMongo(double.url('test'))
  t.teardown(connection.close)
  const world = { store: (await createFilledWorld()).store, documents: createMongoDocuments(connection) }
  right(await world.documents.ensure([lives.collection])())
  let dead: Promise<void> | null = null
  let held = 0
  let [before, progress]: [number, number] = [0, 0]
  const rebuilt = await rebuild(world, {
    onProgress: (step) => {
      progress = step.events
      if (dead === null && step.events > 0) {
        before = step.events
        dead = double.kill()
      }
      if (step.held === null || dead === null) return
      held += 1
      // Away until the rebuild has noticed.
      if (held === 1) void dead.then(double.start)
    },
  })
  t.true(held > 0 && before > 0 && before < EVENTS && progress === EVENTS)
  // No event twice.
  t.like(right(rebuilt), { resumed: false, events: EVENTS })
  await assertRebuilt(t, world)
})

test('a log with a damaged row makes no read model anew: the one in use may know what the row said', async (t) => {
  const world = await createFilledWorld()
  const row = { stream: 'live-3', position: right(await world.store.read('live-3')())[0]?.position ?? BEGINNING }
  const subscribe: EventStore['subscribe'] = async function* (...asked) {
    for await (const message of world.store.subscribe(...asked)) {
      if (message.kind === 'event' && message.event.position === row.position)
        throw new Error('damaged', { cause: { _tag: 'LogCorrupted', reason: 'r', row } })
      yield message
    }
  }
  const { store, unreadable: hurt } = watchLog({ ...world.store, subscribe }, silentLogger)
  const outcome = await rebuild({ ...world, store })
  t.is(hurt().length, 1)
  t.regex(E.isLeft(outcome) ? outcome.left : 'rebuilt', /^the event at position 0+3 \(live-3\) is damaged/)
  await assertRebuilt(t, world)
})
