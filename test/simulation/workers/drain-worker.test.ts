import assert from 'node:assert/strict'
import test from 'ava'
import { eventually } from '../../support/tools/eventually.ts'
import { right } from '../../support/tools/right.ts'
import { AUDIO } from '../../support/worlds/session-world.ts'
import { dataOf } from '../../support/events/stored-data.ts'
import { createTestEnvironment } from '../../support/doubles/environment.ts'
import { memberNamed, scriptedMembers } from '../../unit/application/admission/members.ts'
import { me, startWorker, stores, typesOf, URL_LIVE } from './one-worker.ts'
import { requestOf } from '../../support/worlds/write-side.ts'

const TEN_MINUTES_MS = 600_000

test('at a planned stop each session finishes its audio and moves, and the worker leaves', async (t) => {
  const shared = stores()
  // The pipelines of this worker still have text to finish.
  const first = await startWorker(t, shared, { drainTimeout: TEN_MINUTES_MS, script: { tail: () => 'last words' } })
  const fromUrl = right(await first.side.createLive(me, requestOf(URL_LIVE))).id
  const raw = right(await first.side.createLive(me, requestOf())).id
  const waiting = right(await first.side.createLive(me, requestOf())).id
  await eventually(() => assert.equal(first.pullers.all.length, 1))
  first.pullers.latest().events.audio(AUDIO, null)
  const sender = await first.attach(raw)
  sender.configure({})
  sender.audio(AUDIO)
  await eventually(async () => assert.ok((await typesOf(shared, `live-${raw}`)).includes('LiveStarted')))
  const second = await startWorker(t, shared, { worker: 'w2', takeoverGrace: TEN_MINUTES_MS })
  await first.admission.refresh()
  await first.drain()
  t.deepEqual(await typesOf(shared, 'admission'), [
    'WorkerJoined',
    'Admitted',
    'Admitted',
    'Admitted',
    'WorkerJoined',
    'WorkerDraining',
    'Moved',
    'Moved',
    'WorkerLeft',
    'Moved',
  ])
  t.is(first.sessions.count(), 0)
  await eventually(() =>
    assert.deepEqual(new Set(second.pipelines.all.map(({ liveId }) => liveId)), new Set([fromUrl, raw])),
  )
  await eventually(() =>
    assert.deepEqual(
      second.admission.state().open.map(({ liveId, worker, term }) => [liveId, worker, term]),
      [
        [fromUrl, 'w2', 2],
        [raw, 'w2', 2],
        [waiting, 'w2', 2],
      ],
    ),
  )
  for (const id of [fromUrl, raw]) {
    const [final, fence] = right(await shared.store.read(`segments-${id}`)).map(dataOf)
    t.deepEqual(
      [final?.['term'], fence?.['term']],
      [1, 2],
      'the first worker stores its last text before the next worker continues',
    )
    t.deepEqual((await typesOf(shared, `live-${id}`)).filter((type) => type === 'LiveFinished'), [])
  }
  t.is(sender.audio(AUDIO), 'over')
})

for (const hasSockets of [false, true])
  test(
    hasSockets
      ? 'a stopping process with sockets transcribes all received audio, because its senders are disconnected'
      : 'a stopping process without sockets leaves uncertain words to the next worker, which gets their audio',
    async (t) => {
      const shared = stores()
      const first = await startWorker(t, shared, { drainTimeout: TEN_MINUTES_MS, hasSockets })
      const raw = right(await first.side.createLive(me, requestOf())).id
      const sender = await first.attach(raw)
      sender.configure({})
      sender.audio(AUDIO)
      await eventually(async () => assert.ok((await typesOf(shared, `live-${raw}`)).includes('LiveStarted')))
      await startWorker(t, shared, { worker: 'w2', takeoverGrace: TEN_MINUTES_MS })
      await first.admission.refresh()
      const pipeline = first.pipelines.of(raw)
      await first.drain()
      t.is(pipeline.finishes.length, 1)
      t.is(pipeline.isContinued(), !hasSockets)
    },
  )

test('sessions without another worker stay until DRAIN_TIMEOUT and then wait for a worker', async (t) => {
  const shared = stores()
  const offering = () =>
    new Map([['w1', new Set(['m1', 'm2'])], ['w2', new Set(['m2'])]])
  const environment = createTestEnvironment()
  const first = await startWorker(t, shared, { environment, drainTimeout: 200, offering, script: { tail: () => null } })
  const [stays, goes] = [
    right(await first.side.createLive(me, requestOf(URL_LIVE))).id,
    right(await first.side.createLive(me, requestOf({ ...URL_LIVE, model: 'm2' }))).id,
  ]
  await eventually(() => assert.equal(first.pullers.all.length, 2))
  const second = await startWorker(t, shared, { worker: 'w2', offering })
  await first.admission.refresh()
  const draining = first.drain()
  await eventually(() =>
    assert.deepEqual(second.pipelines.all.map(({ liveId }) => liveId), [goes]),
  )
  t.deepEqual(first.pipelines.of(stays).finishes, [], 'the session is still transcribed')
  t.is(first.sessions.count(), 1)
  environment.advance(200)
  await draining
  await eventually(() => assert.equal(first.sessions.count(), 0))
  t.deepEqual(first.admission.state().open.map(({ liveId, worker }) => [liveId, worker]), [[goes, 'w2'], [stays, null]])
})

test('a single process writes nothing when it stops and keeps its sessions for the next start', async (t) => {
  const shared = stores()
  const environment = createTestEnvironment()
  const only = await startWorker(t, shared, { environment, drainTimeout: 200, script: { tail: () => null } })
  right(await only.side.createLive(me, requestOf(URL_LIVE)))
  await eventually(() => assert.equal(only.pullers.all.length, 1))
  const draining = only.drain()
  environment.advance(200)
  await draining
  t.deepEqual(await typesOf(shared, 'admission'), ['WorkerJoined', 'Admitted'])
  t.is(only.pipelines.all[0]?.finishes.length, 1)
})

test('a worker waits for its sessions only while a process with sockets runs', async (t) => {
  const shared = stores()
  const environment = createTestEnvironment()
  const own = memberNamed('w1', undefined, { incarnation: environment.instance })
  const { members, set } = scriptedMembers(own, memberNamed('api', null))
  const only = await startWorker(t, shared, { environment, members, drainTimeout: TEN_MINUTES_MS })
  right(await only.side.createLive(me, requestOf(URL_LIVE)))
  await eventually(() => assert.equal(only.pullers.all.length, 1))
  let hasDrained = false
  const draining = only.drain().then(() => { hasDrained = true })
  await eventually(() => assert.equal(members.all().find(({ name }) => name === 'w1')?.state, 'draining'))
  const [present] = members.all()
  assert.ok(present)
  set([present, memberNamed('api', null, { state: 'draining' })])
  await new Promise((resolve) => { setImmediate(resolve) })
  t.false(hasDrained)
  set([present, memberNamed('api', null, { state: 'stopping' })])
  await draining
  t.deepEqual(only.pipelines.all.map(({ finishes }) => finishes.length), [1], 'its received audio is transcribed')
})

test('DRAIN_TIMEOUT=0 moves all sessions as the worker leaves', async (t) => {
  const shared = stores()
  const first = await startWorker(t, shared)
  right(await first.side.createLive(me, requestOf(URL_LIVE)))
  await eventually(() => assert.equal(first.pullers.all.length, 1))
  const second = await startWorker(t, shared, { worker: 'w2' })
  await first.admission.refresh()
  await first.drain()
  await eventually(() => assert.equal(second.pullers.all.length, 1))
  t.deepEqual(first.pipelines.all[0]?.finishes, [])
  t.deepEqual((await typesOf(shared, 'admission')).slice(-2), ['WorkerLeft', 'Moved'])
})
