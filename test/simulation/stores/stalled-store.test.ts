import assert from 'node:assert/strict'
import test from 'ava'
import { finishLive } from '../../../application/lives/commands/finish-live.ts'
import type { EventStore } from '../../../application/ports/event-store.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { createManualTimers } from '../../support/doubles/manual-timers.ts'
import { right } from '../../support/tools/right.ts'
import { AUDIO } from '../../support/worlds/session-world.ts'
import { chanceOf } from '../../support/tools/seeded.ts'
import { me, startWorker, stores, typesOf } from '../workers/one-worker.ts'
import { createStalledWorld } from './stalled-store.ts'
import { requestOf } from '../../support/worlds/write-side.ts'

test('despite late or missing store answers each session accepts its sender and audio, and exists once', async (t) => {
  const world = await createStalledWorld(chanceOf(t).random('stall'), stores())
  t.teardown(world.close)
  const { open, created } = await world.round('create', Number(process.env['STENOLOG_TEST_SESSIONS'] ?? 500))
  t.log(`${created} sessions created, ${open} open`)
  t.true(open > 0 && open < created)
})

for (const appendTime of ['never', 'at once', 'later'] as const)
  test(`a sender is recorded once although its append had no answer: the append happens ${appendTime}`, async (t) => {
    const shared = stores()
    let isStalled = true
    const writes: Array<() => Promise<unknown>> = []
    const append: EventStore['append'] = async (stream, expected, events) => {
      const write = () => shared.store.append(stream, expected, events)
      if (!isStalled || events[0]?.type !== 'SenderAttached') return await write()
      if (appendTime === 'at once') await write()
      writes.push(write)
      return { _tag: 'Left', left: { _tag: 'StoreUnavailable', reason: 'stalled' } }
    }
    const read: EventStore['read'] = async (stream, options) => isStalled && writes.length > 0
        ? { _tag: 'Left', left: { _tag: 'StoreUnavailable', reason: 'stalled' } }
        : await shared.store.read(stream, options)
    const { side, attach } = await startWorker(t, { ...shared, store: { ...shared.store, append, read } })
    const { id } = right(await side.createLive(me, requestOf()))
    const sender = await attach(id)
    sender.configure({})
    t.is(sender.audio(AUDIO), 'ok')
    await eventually(() => assert.ok(writes.length > 0))
    if (appendTime === 'later') await writes[0]?.()
    isStalled = false
    await eventually(async () =>
      assert.deepEqual(await typesOf(shared, `live-${id}`), ['LiveCreated', 'SenderAttached', 'LiveStarted']))
    sender.lost()
    await eventually(async () => assert.equal((await typesOf(shared, `live-${id}`)).at(-1), 'LiveFinished'))
    t.pass()
  })

test('a finish during a store outage ends the session once the store is available', async (t) => {
  const shared = stores()
  const timers = createManualTimers()
  let isUnavailable = false
  const append: EventStore['append'] =
    async (...args) => isUnavailable
        ? { _tag: 'Left', left: { _tag: 'StoreUnavailable', reason: 'simulated' } }
        : await shared.store.append(...args)
  const { side, attach, sessions, bus, pipelines, admission } = await startWorker(t, {
    ...shared,
    timers,
    store: { ...shared.store, append },
  })
  const { id } = right(await side.createLive(me, requestOf()))
  const signals: Array<string> = []
  bus.subscribe(id, ({ kind }) => signals.push(kind))
  const sender = await attach(id)
  sender.configure({})
  sender.audio(AUDIO)
  await eventually(() => assert.equal(pipelines.of(id).samples(), AUDIO.length))
  isUnavailable = true
  let answer: unknown
  void finishLive(side.deps)(me, id).then((result) => { answer = result })
  await eventually(() => {
    timers.advance(500)
    assert.ok(answer !== undefined)
  })
  t.like(answer, { left: { _tag: 'StoreUnavailable' } }, 'the route answers 503')
  t.is(signals.at(-1), 'ended', 'the sender is informed')
  isUnavailable = false
  await eventually(() => {
    timers.advance(1000)
    assert.deepEqual(admission.state().open, [])
  })
  t.is((await typesOf(shared, `live-${id}`)).at(-1), 'LiveFinished')
  t.is(right(await shared.store.read(`live-${id}`)).at(-1)?.metadata.actor, 'user:1')
  await eventually(() => {
    timers.advance(1000)
    assert.equal(sessions.count(), 0)
  })
})
