import assert from 'node:assert/strict'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { eventually } from '../../support/tools/eventually.ts'
import { createManualTimers } from '../../support/doubles/manual-timers.ts'
import { right } from '../../support/tools/right.ts'
import { AUDIO } from '../../support/worlds/session-world.ts'
import { dataOf } from '../../support/events/stored-data.ts'
import { me, startWorker, stores, typesOf } from './one-worker.ts'
import type { WorkerStores } from './worker-world.ts'
import { requestOf } from '../../support/worlds/write-side.ts'

const GRACE = 60_000
/** A source that the sender starts: the session has no `autoStart`. */
const SENDER_STARTED = { audioFormat: 'hls', audioUrl: 'http://radio.example/live' } as const

/** Runs sessions on a worker, stops the worker and starts a second one that takes them over. */
const takenOver = async (
  t: Parameters<typeof startWorker>[0],
  shared: WorkerStores,
  requests: ReadonlyArray<Parameters<typeof requestOf>[0]>,
) => {
  const first = await startWorker(t, shared)
  const ids: Array<number> = []
  for (const request of requests) {
    const { id } = right(await first.side.createLive(me, requestOf(request)))
    const sender = await first.attach(id)
    sender.configure({})
    if (request?.audioFormat === undefined) sender.audio(AUDIO)
    else await eventually(() => first.pullers.latest().events.audio(AUDIO, 7))
    await eventually(async () => assert.ok((await typesOf(shared, `live-${id}`)).includes('LiveStarted')))
    await first.pipelines.of(id).final(1, 'one')
    ids.push(id)
  }
  await first.running.stop()
  const timers = createManualTimers()
  const second = await startWorker(t, { ...shared, timers }, { takeoverGrace: GRACE })
  return { first, second, timers, ids }
}

test('a taken-over session loads its model immediately, waits for its sender and continues', async (t) => {
  const shared = stores()
  const { second, timers, ids: [id = 0] } = await takenOver(t, shared, [{}])
  await eventually(() => assert.equal(second.pipelines.all.length, 1))
  t.is(second.pipelines.of(id).nextSegment, 2)
  timers.advance(GRACE - 1)
  const sender = await second.attach(id)
  t.is(sender.configure({ max_chars: 30 }), 'ok', 'the sender repeats its settings')
  t.is(sender.audio(AUDIO), 'ok')
  timers.advance(GRACE)
  await second.pipelines.of(id).final(2, 'two')
  t.is(second.pipelines.all.length, 1)
  const segments = right(await shared.store.read(`segments-${id}`)).map(dataOf)
  t.deepEqual(segments.map((data) => [data['segment'] ?? 'fence', data['term']]), [[1, 1], ['fence', 2], [2, 2]])
  t.deepEqual(
    (await typesOf(shared, `live-${id}`)).filter((type) => type === 'LiveFinished'),
    [],
  )
})

test('without its sender a taken-over session ends after the grace and is released', async (t) => {
  const shared = stores()
  const { second, timers, ids: [id = 0] } = await takenOver(t, shared, [{}])
  await eventually(() => assert.equal(second.pipelines.all.length, 1))
  // Settling the session again does not restart the grace.
  timers.advance(GRACE / 2)
  second.running.settle(id)
  await new Promise((resolve) => { setImmediate(resolve) })
  timers.advance(GRACE / 2)
  await eventually(async () => assert.equal((await typesOf(shared, `live-${id}`)).at(-1), 'LiveFinished'))
  await eventually(() => assert.deepEqual(second.admission.state().open, []))
  t.like(dataOf(right(await shared.store.read(`live-${id}`)).at(-1) ?? assert.fail()), { reason: 'restart' })
  t.true(E.isLeft(await second.sessions.attachSender(id)))
})

test('a source that a sender started also waits for the sender and continues at its position', async (t) => {
  const shared = stores()
  const { second, ids: [id = 0] } = await takenOver(t, shared, [SENDER_STARTED])
  await eventually(() => assert.equal(second.pipelines.all.length, 1))
  t.is(second.pullers.all.length, 0)
  const sender = await second.attach(id)
  t.is(sender.configure({}), 'ok')
  await eventually(() => assert.equal(second.pullers.all.length, 1))
})

test('a worker drops a waiting session that moves to another worker, and does not end it', async (t) => {
  const shared = stores()
  const { second, timers, ids: [id = 0] } = await takenOver(t, shared, [{}])
  await eventually(() => assert.equal(second.pipelines.all.length, 1))
  const third = await startWorker(t, shared, { worker: 'w9', vram: 100, takeoverGrace: GRACE })
  const move = { type: 'Move', liveId: id, term: 2, to: 'w9', at: third.side.deps.environment.now() } as const
  right(await third.admission.send({ command: move, commandId: 'm', correlationId: 'm', actor: 'service' }))
  await eventually(() => assert.equal(second.sessions.count(), 0))
  timers.advance(2 * GRACE)
  await eventually(() => assert.equal(third.pipelines.all.length, 1))
  t.deepEqual((await typesOf(shared, `live-${id}`)).filter((type) => type === 'LiveFinished'), [])
})
