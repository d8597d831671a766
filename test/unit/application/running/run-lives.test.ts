import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'ava'
import { v7 } from 'uuid'
import type { EventStore, SubscriptionMessage } from '../../../../application/ports/event-store.ts'
import { openSqliteEventStore } from '../../../../infrastructure/sqlite/event-log/event-store.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { right } from '../../../support/tools/right.ts'
import { AUDIO } from '../../../support/worlds/session-world.ts'
import { dataOf } from '../../../support/events/stored-data.ts'
import { temporaryDirectory } from '../../../support/tools/temporary-directory.ts'
import {
  admitted, appendElsewhere, me, startWorker, stores, typesOf, URL_LIVE,
} from '../../../simulation/workers/one-worker.ts'
import { startsAndStops } from './starts-and-stops.ts'
import { callerOf, requestOf } from '../../../support/worlds/write-side.ts'

test('an admitted session starts when any process creates it, and stops when any process finishes it', async (t) => {
  await startsAndStops(t, stores())
})

test('on SQLite an admitted session starts and stops in the same way', async (t) => {
  const { path, remove } = await temporaryDirectory()
  const store = await openSqliteEventStore({ file: join(path, 'log.db') })
  t.teardown(async () => {
    await store.close()
    await remove()
  })
  await startsAndStops(t, { ...stores(), store })
})

test('no session starts while the subscription is held back; after the release all sessions start', async (t) => {
  const shared = stores()
  let release: () => void = () => undefined
  const held = new Promise<void>((resolve) => { release = resolve })
  const subscribe: EventStore['subscribe'] = async function* (...from): AsyncGenerator<SubscriptionMessage> {
    await held
    yield* shared.store.subscribe(...from)
  }
  const { side, pullers } = await startWorker(t, shared, { subscribe })
  for (let count = 0; count < 5; count++) right(await side.createLive(me, requestOf(URL_LIVE)))
  await new Promise((resolve) => { setImmediate(resolve) })
  t.is(pullers.all.length, 0)
  release()
  await eventually(() => assert.equal(pullers.all.length, 5))
})

test('a broken subscription continues at its position', async (t) => {
  const shared = stores()
  let broken = 0
  const subscribe: EventStore['subscribe'] = async function* (...from): AsyncGenerator<SubscriptionMessage> {
    for await (const message of shared.store.subscribe(...from)) {
      yield message
      if (message.kind === 'event' && message.event.type === 'LiveCreated') {
        broken += 1
        throw new Error('the store became unavailable')
      }
    }
  }
  const { side, pullers, logger } = await startWorker(t, shared, { subscribe })
  for (let count = 0; count < 3; count++) right(await side.createLive(me, requestOf(URL_LIVE)))
  await eventually(() => assert.equal(pullers.all.length, 3))
  t.is(broken, 3)
  t.true(logger.lines.some(({ message }) => message === 'the subscription to sessions was lost'))
})

test('a restarted process takes its sessions over in the next term', async (t) => {
  const shared = stores()
  const first = await startWorker(t, shared)
  const [fromUrl, raw, waiting] = [
    right(await first.side.createLive(me, requestOf(URL_LIVE))).id,
    right(await first.side.createLive(me, requestOf())).id,
    right(await first.side.createLive(me, requestOf())).id,
  ]
  await eventually(() => assert.equal(first.pullers.all.length, 1))
  first.pullers.latest().events.audio(AUDIO, null)
  await first.pipelines.of(fromUrl).final(4, 'four')
  const sender = await first.attach(raw)
  sender.configure({})
  sender.audio(AUDIO)
  await first.attach(waiting)
  await eventually(async () => assert.deepEqual((await typesOf(shared, `live-${raw}`)).at(-1), 'LiveStarted'))
  await first.running.stop()

  const second = await startWorker(t, shared)
  t.deepEqual(await typesOf(shared, `live-${raw}`), [
    'LiveCreated',
    'SenderAttached',
    'LiveStarted',
    'LiveTakenOver',
    'LiveFinished',
  ])
  t.deepEqual(await typesOf(shared, `live-${waiting}`), ['LiveCreated'], 'nothing to fence before its first sender')
  t.deepEqual(await typesOf(shared, `segments-${fromUrl}`), ['SegmentFinalised', 'SegmentsFenced'])
  t.is(second.pipelines.of(fromUrl).nextSegment, 5)
  t.deepEqual(second.admission.state().open.map(({ liveId, term }) => [liveId, term]), [[fromUrl, 2], [waiting, 2]])
  t.is((await second.attach(waiting)).liveId, waiting)
  t.deepEqual(await typesOf(shared, `live-${waiting}`), ['LiveCreated', 'LiveTakenOver'])
  t.deepEqual(await typesOf(shared, `segments-${waiting}`), ['SegmentsFenced'])

  // The first process is still alive: its writes are refused, and it drops its session.
  await first.pipelines.of(fromUrl).final(5, 'too late')
  await eventually(() => assert.equal(first.sessions.runs.termOf(fromUrl), null))
  t.true(first.pullers.latest().stopped)
  sender.finish()
  await second.pipelines.of(fromUrl).final(5, 'five')
  const segments = right(await shared.store.read(`segments-${fromUrl}`)).map(dataOf)
  t.deepEqual(segments.map((data) => [data['segment'] ?? 'fence', data['term']]), [[4, 1], ['fence', 2], [5, 2]])
  t.deepEqual((await typesOf(shared, `live-${raw}`)).at(-1), 'LiveFinished')
})

test('a restart costs one append, and one read for each session that waits for its first sender', async (t) => {
  const sessions = 150
  const shared = stores()
  const first = await startWorker(t, shared, { vram: 1000 })
  const caller = callerOf(1, { maxSessions: sessions })
  for (let count = 0; count < sessions; count++) right(await first.side.createLive(caller, requestOf()))
  await first.close()
  let [appends, reads] = [0, 0]
  const store: EventStore = {
    ...shared.store,
    append: (...args) => {
      appends += 1
      return shared.store.append(...args)
    },
    read: (...args) => {
      reads += 1
      return shared.store.read(...args)
    },
  }
  const second = await startWorker(t, { ...shared, store }, { vram: 1000 })
  t.true(second.admission.state().open.every(({ worker, term }) => worker === 'w1' && term === 2))
  t.is(appends, 1)
  t.true(reads >= sessions && reads < sessions + 10, `${reads} reads`)
})

test('an earlier run that accepts the first sender of a session after the restart is fenced off', async (t) => {
  const shared = stores()
  const first = await startWorker(t, shared)
  const { id } = right(await first.side.createLive(me, requestOf()))
  await first.running.stop()
  const second = await startWorker(t, shared, { takeoverGrace: 60_000 })
  // The earlier run does not know that it was replaced.
  const sender = await first.attach(id)
  sender.configure({})
  sender.audio(AUDIO)
  await eventually(async () => assert.ok((await typesOf(shared, `live-${id}`)).includes('LiveTakenOver')))
  await eventually(async () => assert.deepEqual(await typesOf(shared, `segments-${id}`), ['SegmentsFenced']))
  await first.pipelines.of(id).final(1, 'too late')
  await eventually(() => assert.equal(first.sessions.runs.termOf(id), null))
  t.deepEqual(await typesOf(shared, `segments-${id}`), ['SegmentsFenced'])
  // The fence may come between the sender and the start that it causes. Then the session waits for its first audio.
  const isActive = (await typesOf(shared, `live-${id}`)).includes('LiveStarted')
  await eventually(() => assert.equal(second.sessions.runs.termOf(id), isActive ? 2 : null))
})

test('a sender in the log that this worker does not have is detached', async (t) => {
  const shared = stores()
  const { side } = await startWorker(t, shared)
  const { id } = right(await side.createLive(me, requestOf()))
  const { at } = admitted
  await appendElsewhere(shared, `live-${id}`, 'SenderAttached', { liveId: id, userId: 1, at, epoch: 1, instance: 'i' })
  await eventually(async () =>
    assert.deepEqual(await typesOf(shared, `live-${id}`), ['LiveCreated', 'SenderAttached', 'SenderDetached']))
  t.pass()
})

test('a worker drops a moved session and does not end it', async (t) => {
  const shared = stores()
  const worker = await startWorker(t, shared)
  const { id } = right(await worker.side.createLive(me, requestOf(URL_LIVE)))
  await eventually(() => assert.equal(worker.pullers.all.length, 1))
  await appendElsewhere(shared, 'admission', 'Moved', { liveId: id, worker: 'w2', term: 2, at: admitted.at })
  await eventually(() => assert.ok(worker.pullers.latest().stopped))
  t.is(worker.sessions.count(), 0)
  t.deepEqual(await typesOf(shared, `live-${id}`), ['LiveCreated', 'SourceStarted', 'LiveStarted'])
  await appendElsewhere(shared, 'admission', 'Moved', { liveId: id, worker: 'w1', term: 3, at: admitted.at })
  await eventually(() => assert.equal(worker.pullers.all.length, 2))
  t.deepEqual((await typesOf(shared, `live-${id}`)).slice(3, 4), ['LiveTakenOver'])
})

test('an unreadable session is skipped, and the others do not wait for it', async (t) => {
  const shared = stores()
  const first = await startWorker(t, shared)
  const ids = [
    right(await first.side.createLive(me, requestOf(URL_LIVE))).id,
    right(await first.side.createLive(me, requestOf(URL_LIVE))).id,
  ]
  await eventually(() => assert.equal(first.pullers.all.length, 2))
  await first.close()
  right(
    await shared.store.append(`live-${ids[0]}`, 'any', [
      {
        id: v7(),
        type: 'InventedLater',
        data: {},
        metadata: { correlationId: 'c', causationId: 'c', actor: 'a', recordedAt: admitted.at },
      },
    ]),
  )
  const second = await startWorker(t, shared)
  t.deepEqual(second.pipelines.all.map(({ liveId }) => liveId), [ids[1]])
  second.running.settle(ids[0] ?? 0)
  await eventually(() =>
    assert.deepEqual(
      second.logger.lines.map(({ level, message }) => [level, message]),
      [['error', 'the data of a session is damaged']],
    ),
  )
})
