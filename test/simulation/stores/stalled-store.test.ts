import assert from 'node:assert/strict'
import test from 'ava'
import { finishLive } from '../../../application/lives/commands/finish-live.ts'
import type { EventStore } from '../../../application/ports/event-store.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { createManualTimers } from '../../support/doubles/manual-timers.ts'
import { right } from '../../support/tools/right.ts'
import { AUDIO } from '../../support/worlds/session-world.ts'
import { chanceOf } from '../../support/tools/seeded.ts'
import { me, startWorker, stores, typesOf } from '../../unit/application/one-worker.ts'
import { createStalledWorld } from './stalled-store.ts'
import { requestOf } from '../../unit/application/write-side.ts'

test('with late or missing answers of the store no session is locked or doubled', async (t) => {
  const world = await createStalledWorld(chanceOf(t).random('stall'), stores())
  t.teardown(world.close)
  const { open, made } = await world.round('create', Number(process.env['STENOLOG_TEST_SESSIONS'] ?? 500))
  t.log(`${made} lives made, ${open} are open`)
  t.true(open > 0 && open < made)
})

for (const late of ['never', 'at once', 'later'] as const)
  test(`an attach without an answer locks nobody out: the append happens ${late}`, async (t) => {
    const on = stores()
    let isStalled = false
    const kept: Array<() => Promise<unknown>> = []
    const append: EventStore['append'] = (stream, expected, events) => async () => {
      const write = on.store.append(stream, expected, events)
      if (!isStalled || events[0]?.type !== 'SenderAttached') return await write()
      if (late === 'at once') await write()
      if (late === 'later') kept.push(write)
      return { _tag: 'Left', left: { _tag: 'StoreUnavailable', reason: 'stalled' } }
    }
    const read: EventStore['read'] = (stream, options) => async () =>
      isStalled && kept.length > 0
        ? { _tag: 'Left', left: { _tag: 'StoreUnavailable', reason: 'stalled' } }
        : await on.store.read(stream, options)()
    const { side, sessions, attach } = await startWorker(t, { ...on, store: { ...on.store, append, read } })
    const { id } = right(await side.createLive(me, requestOf())())
    isStalled = true
    const refused = await sessions.attachSender(id)()
    if (late !== 'at once') t.like(refused, { left: { _tag: 'StoreUnavailable' } })
    else if ('right' in refused) refused.right.lost()
    isStalled = false
    for (const write of kept) await write()
    await eventually(async () => {
      const types = await typesOf(on, `live-${id}`)
      assert.equal(
        types.includes('SenderAttached'),
        types.includes('SenderDetached') || types.includes('LiveFinished'),
        'nobody is named as the sender who is none',
      )
    })
    if (late !== 'at once') t.is((await attach(id)).liveId, id)
    t.pass()
  })

test('a finish during a store outage ends the session once the store is back', async (t) => {
  const on = stores()
  const timers = createManualTimers()
  let isAway = false
  const append: EventStore['append'] = (...args) => async () =>
    isAway ? { _tag: 'Left', left: { _tag: 'StoreUnavailable', reason: 'away' } } : await on.store.append(...args)()
  const { side, attach, sessions, bus, pipelines, admission } = await startWorker(t, {
    ...on,
    timers,
    store: { ...on.store, append },
  })
  const { id } = right(await side.createLive(me, requestOf())())
  const told: Array<string> = []
  bus.subscribe(id, ({ kind }) => told.push(kind))
  const sender = await attach(id)
  sender.configure({})
  sender.audio(AUDIO)
  await eventually(() => assert.equal(pipelines.of(id).samples(), AUDIO.length))
  isAway = true
  let answer: unknown
  void finishLive(side.deps)(me, id)().then((given) => { answer = given })
  await eventually(() => {
    timers.advance(500)
    assert.ok(answer !== undefined)
  })
  t.like(answer, { left: { _tag: 'StoreUnavailable' } }, 'it is answered 503')
  t.is(told.at(-1), 'ended', 'who speaks to it hears of it')
  isAway = false
  await eventually(() => {
    timers.advance(1000)
    assert.deepEqual(admission.state().open, [])
  })
  t.is((await typesOf(on, `live-${id}`)).at(-1), 'LiveFinished')
  t.is(right(await on.store.read(`live-${id}`)()).at(-1)?.metadata.actor, 'user:1')
  await eventually(() => {
    timers.advance(1000)
    assert.equal(sessions.count(), 0)
  })
})
