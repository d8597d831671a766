import test from 'ava'
import assert from 'node:assert/strict'
import { eventually } from '../../support/tools/eventually.ts'
import { finalKeysOf } from '../../support/service/final-frames.ts'
import { audioOf, awaitPongs, errorCodesOf, startSockets } from '../../support/worlds/socket-world.ts'

const GRACE = { reconnectGrace: 10_000 }

test('RECONNECT_GRACE: a lost sender reconnects with its settings, and listeners get no frame', async (t) => {
  const { lifecycle, configured, sender, listener, pipelines, timers } = await startSockets(t, {}, {}, GRACE)
  const live = lifecycle.add()
  const first = await sender(live)
  first.send({ type: 'config', max_chars: 33 })
  first.sendAudio(audioOf(0.1))
  await awaitPongs(first)
  const listening = await listener(live)
  first.terminate()
  await eventually(() => assert.ok(live.writes.includes('detach')))
  timers.advance(9999)
  const reconnected = await configured(live)
  t.deepEqual(
    reconnected.texts.slice(1),
    ['{"status":"ASR process started"}', '{"status":"started"}'],
    'it gets the same frames as on its first connection',
  )
  reconnected.sendAudio(audioOf(0.2))
  reconnected.send({ type: 'config', max_chars: 44 })
  t.is((await reconnected.frame(({ code }) => code !== undefined))['code'], 'config_too_late')
  timers.advance(10_000)
  t.is(pipelines.all.length, 1)
  t.is(pipelines.of(live.id).settings().max_chars, 33)
  t.is(pipelines.of(live.id).samples(), 0.3 * 16_000)
  reconnected.terminate()
  await eventually(() => assert.equal(live.writes.filter((write) => write === 'detach').length, 2))
  const unconfigured = await sender(live)
  unconfigured.sendAudio(audioOf(0.1))
  await eventually(() => assert.equal(pipelines.of(live.id).samples(), 0.4 * 16_000))
  t.deepEqual(errorCodesOf(unconfigured.frames), [], 'it needs no new config')
  t.deepEqual(listening.texts.slice(1), ['{"status":"started"}'])
  unconfigured.close()
  t.deepEqual(await listening.closed, { code: 1000, reason: '' })
  t.deepEqual(live.cause, { status: 'finished', reason: 'sender_closed' }, 'a clean close ends the session')
})

test(
  'RECONNECT_GRACE: without a new sender the received audio is transcribed, then the session finishes',
  async (t) => {
    const { lifecycle, configured, sender, listener, sessions, timers } = await startSockets(t, {}, {}, GRACE)
    const [spoken, silent] = [lifecycle.add(), lifecycle.add()]
    const [lost, early] = [await configured(spoken), await sender(silent)]
    lost.sendAudio(audioOf(0.1))
    await awaitPongs(lost)
    const [listening, waiting] = [await listener(spoken), await listener(silent)]
    for (const socket of [lost, early]) socket.terminate()
    for (const { id } of [spoken, silent]) await eventually(() => assert.ok(!sessions.runs.hasSender(id)))
    timers.advance(9999)
    await awaitPongs(listening)
    t.is(spoken.status, 'active')
    timers.advance(1)
    for (const socket of [listening, waiting]) t.deepEqual(await socket.closed, { code: 1000, reason: '' })
    t.deepEqual(finalKeysOf(listening), ['1en'])
    for (const live of [spoken, silent]) t.deepEqual(live.cause, { status: 'finished', reason: 'sender_closed' })
    t.is(sessions.count(), 0)
  },
)

test('RECONNECT_GRACE does not apply after a protocol violation or when the session ends meanwhile', async (t) => {
  const { lifecycle, configured, listener, sessions, timers } = await startSockets(t, {}, {}, GRACE)
  const [broken, ended] = [lifecycle.add(), lifecycle.add()]
  const [bulky, lost] = [await configured(broken), await configured(ended)]
  const listening = [await listener(broken), await listener(ended)]
  bulky.send('x'.repeat(600_000))
  lost.terminate()
  t.is((await bulky.closed).code, 1009)
  await eventually(() => assert.ok(!sessions.runs.hasSender(ended.id)))
  lifecycle.endElsewhere(ended.id, { status: 'finished', reason: 'finish_route' })
  for (const socket of listening) t.is((await socket.closed).code, 1000)
  timers.advance(60_000)
  t.deepEqual(
    [broken.cause, ended.cause],
    [{ status: 'finished', reason: 'sender_closed' }, { status: 'finished', reason: 'finish_route' }],
  )
})
