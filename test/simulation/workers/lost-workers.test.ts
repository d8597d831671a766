import assert from 'node:assert/strict'
import test, { type ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { EventStore } from '../../../application/ports/event-store.ts'
import { createManualTimers } from '../../support/doubles/manual-timers.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { right } from '../../support/tools/right.ts'
import { AUDIO } from '../../support/worlds/session-world.ts'
import { createTestEnvironment } from '../../support/doubles/environment.ts'
import { memberNamed, scriptedMembers } from '../../unit/application/admission/members.ts'
import { appendElsewhere, me, startWorker, stores, typesOf, URL_LIVE } from './one-worker.ts'
import type { WorkerStores } from './worker-world.ts'
import { requestOf } from '../../support/worlds/write-side.ts'

/** Starts a worker that is a member among others. */
const startMember = async (
  t: ExecutionContext,
  shared: WorkerStores,
  name: string,
  more: Partial<Parameters<typeof startWorker>[2]> = {},
) => {
  const environment = createTestEnvironment()
  const own = memberNamed(name, undefined, { incarnation: environment.instance })
  const world = scriptedMembers(own)
  const worker = await startWorker(
    t,
    { ...shared, environment },
    { ...more, environment, worker: name, members: world.members },
  )
  return { ...worker, own, world }
}

const placements = ({ admission }: Awaited<ReturnType<typeof startMember>>) =>
  admission.state().open.map(({ liveId, worker, term }) => [liveId, worker, term])

test('a lost worker is removed by any process, its sessions move, and it drops them when it returns', async (t) => {
  const shared = stores()
  const first = await startMember(t, shared, 'w1')
  const { id } = right(await first.side.createLive(me, requestOf(URL_LIVE)))
  await eventually(() => assert.equal(first.pullers.all.length, 1))
  const [second, third] = [
    await startMember(t, shared, 'w2', { vram: 90 }),
    await startMember(t, shared, 'w3', { vram: 80 }),
  ]
  first.world.doubt('the heartbeats of this process are not acknowledged')
  second.world.lose(first.own)
  third.world.lose(first.own)
  await eventually(() => assert.equal(second.pullers.all.length, 1))
  await eventually(() => assert.ok(first.pullers.latest().stopped))
  t.deepEqual(await typesOf(shared, 'admission'), [
    'WorkerJoined',
    'Admitted',
    'WorkerJoined',
    'WorkerJoined',
    'WorkerLeft',
    'Moved',
  ])
  t.deepEqual(placements(second), [[id, 'w2', 2]])
  t.is(first.sessions.count(), 0)
  t.deepEqual(
    (await typesOf(shared, `live-${id}`)).filter((type) => type === 'LiveFinished'),
    [],
  )

  // The worker joins again in the same incarnation and gets sessions again.
  t.false(first.admission.state().workers.some(({ worker }) => worker === 'w1'))
  first.world.doubt(null)
  await eventually(async () => assert.equal((await typesOf(shared, 'admission')).at(-1), 'WorkerJoined'))
  second.world.set([])
  third.world.lose(second.own)
  await eventually(() => assert.equal(first.pullers.all.length, 2))
  t.deepEqual(placements(first), [[id, 'w1', 3]])
  await first.pipelines.all[1]?.final(1, 'one')
  t.deepEqual(await typesOf(shared, `segments-${id}`), ['SegmentsFenced', 'SegmentsFenced', 'SegmentFinalised'])
})

test('a process that learns of a lost worker retries until the log answers', async (t) => {
  const shared = stores()
  const first = await startMember(t, shared, 'w1')
  let [isUnavailable, refused] = [false, 0]
  const store: EventStore = {
    ...shared.store,
    append:
      async (...request) => {
        if (!isUnavailable) return await shared.store.append(...request)
        refused += 1
        return E.left({ _tag: 'StoreUnavailable', reason: 'test' })
      },
  }
  const second = await startMember(t, shared, 'w2', { store })
  first.world.doubt('frozen')
  isUnavailable = true
  second.world.lose(first.own)
  const told = () =>
    second.logger.lines.filter(({ message }) => message.startsWith('a command for the stream admission'))
  await eventually(() => assert.ok(refused > 3))
  t.is(told().length, 1)
  isUnavailable = false
  await eventually(async () => assert.equal((await typesOf(shared, 'admission')).at(-1), 'WorkerLeft'))
  await eventually(() => assert.equal(told().length, 2))
})

test('a worker without a member entry leaves after several checks, unless no members are visible', async (t) => {
  const shared = stores()
  const first = await startMember(t, shared, 'w1')
  const { id } = right(await first.side.createLive(me, requestOf(URL_LIVE)))
  const timers = createManualTimers()
  const second = await startMember(t, shared, 'w2', { timers })
  const checks = async (count: number): Promise<void> => {
    for (let check = 0; check < count; check++) {
      const waiting = timers.size()
      timers.advance(5000)
      await eventually(() => assert.equal(timers.size(), waiting))
    }
  }
  second.world.doubt('the member registry does not answer')
  await checks(6)
  second.world.doubt(null)
  await checks(3)
  second.world.set([second.own, first.own])
  await checks(1)
  second.world.set([second.own])
  await checks(3)
  t.deepEqual(placements(second), [[id, 'w1', 1]])
  timers.advance(5000)
  await eventually(() => assert.deepEqual(placements(second), [[id, 'w2', 2]]))
})

test('a session whose model no worker has waits until a worker offers the model', async (t) => {
  const shared = stores()
  const first = await startMember(t, shared, 'w1')
  const { id } = right(await first.side.createLive(me, requestOf(URL_LIVE)))
  await eventually(() => assert.equal(first.pullers.all.length, 1))
  first.pullers.latest().events.audio(AUDIO, null)
  let names = new Set<string>(['other'])
  const second = await startMember(t, shared, 'w2', {
    timers: createManualTimers(),
    offering: () => new Map([['w2', names]]),
  })
  first.world.doubt('frozen')
  second.world.lose(first.own)
  await eventually(() => assert.deepEqual(placements(second), [[id, null, 1]]))
  await eventually(() => assert.ok(first.pullers.latest().stopped))
  await first.close()
  names = new Set(['m1'])
  second.world.set([second.own])
  await eventually(() => assert.equal(second.pullers.all.length, 1))
  t.deepEqual(placements(second), [[id, 'w2', 2]])
})

test('a worker drops sessions it lost even when admissions are unreadable', async (t) => {
  const shared = stores()
  let isUnavailable = false
  const store: EventStore = {
    ...shared.store,
    read:
      async (stream, ...rest) => isUnavailable && stream === 'admission'
          ? E.left({ _tag: 'StoreUnavailable', reason: 'test' })
          : await shared.store.read(stream, ...rest),
  }
  const worker = await startWorker(t, { ...shared, store })
  right(await worker.side.createLive(me, requestOf(URL_LIVE)))
  await eventually(() => assert.equal(worker.pullers.all.length, 1))
  const [{ incarnation } = { incarnation: null }] = worker.admission.state().workers
  isUnavailable = true
  await appendElsewhere(shared, 'admission', 'WorkerLeft', {
    worker: 'w1',
    incarnation,
    reason: 'lost',
    at: worker.side.deps.environment.now(),
  })
  await new Promise((resolve) => { setImmediate(resolve) })
  isUnavailable = false
  await eventually(() => assert.ok(worker.pullers.latest().stopped))
  t.is(worker.sessions.count(), 0)
})
