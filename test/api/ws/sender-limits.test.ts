import test from 'ava'
import assert from 'node:assert/strict'
import { eventually } from '../../support/tools/eventually.ts'
import { audioOf, awaitPongs, errorCodesOf, startSockets } from '../../support/worlds/socket-world.ts'

const PONG = '{"type":"pong"}'

test('reading pauses at a backlog of 30 s, resumes when the backlog shrinks, and loses no audio', async (t) => {
  const { lifecycle, configured, pipelines, timers } = await startSockets(t, { consumes: false })
  const live = lifecycle.add()
  const socket = await configured(live)
  for (let i = 0; i < 20; i += 1) socket.sendAudio(audioOf(10, i))
  await eventually(() => assert.ok(pipelines.of(live.id).samples() >= 30 * 16_000))
  timers.advance(59_999)
  pipelines.of(live.id).consume(0)
  timers.advance(59_999)
  for (let consumed = 0; consumed < 200; consumed += 5) {
    const backlog = pipelines.of(live.id).samples() - consumed * 16_000
    // 30 s, one frame of 10 s more, and the frames that were parsed with it.
    t.true(backlog <= 42 * 16_000, `${backlog} samples`)
    pipelines.of(live.id).consume(5)
    const due = Math.min(200, consumed + 30) * 16_000
    await eventually(() => assert.ok(pipelines.of(live.id).samples() >= due))
  }
  t.deepEqual(pipelines.of(live.id).pushed.map(([first]) => first), Array.from({ length: 20 }, (_, i) => i))
  t.is(errorCodesOf(socket.frames).length, 0)
})

test('a full backlog without progress for 60 s ends the session with audio_too_fast and 1008', async (t) => {
  const { lifecycle, configured, listener, pipelines, timers } = await startSockets(t, { consumes: false })
  const live = lifecycle.add()
  const [socket, listening] = [await configured(live), await listener(live)]
  for (let i = 0; i < 4; i += 1) socket.sendAudio(audioOf(10))
  await eventually(() => assert.ok(pipelines.of(live.id).samples() >= 30 * 16_000))
  for (let passed = 0; passed < 54_000; passed += 9000) {
    timers.advance(9000)
    await awaitPongs(listening)
  }
  timers.advance(5999)
  t.is(errorCodesOf(socket.frames).length, 0)
  timers.advance(1)
  t.deepEqual(await socket.closed, { code: 1008, reason: 'audio_too_fast' })
  t.deepEqual(errorCodesOf(socket.frames), ['audio_too_fast'])
  t.deepEqual(await listening.closed, { code: 1000, reason: '' })
  t.deepEqual(live.cause, { status: 'finished', reason: 'audio_too_fast' })
})

test('a full backlog that shrinks right after an event loop stall does not end the session', async (t) => {
  const { lifecycle, configured, pipelines, timers } = await startSockets(t, { consumes: false })
  const live = lifecycle.add()
  const socket = await configured(live)
  for (let i = 0; i < 4; i += 1) socket.sendAudio(audioOf(10))
  await eventually(() => assert.ok(pipelines.of(live.id).samples() >= 30 * 16_000))
  timers.standStill(120_000)
  pipelines.of(live.id).consume(20)
  await eventually(() => assert.ok(pipelines.of(live.id).samples() >= 40 * 16_000))
  t.deepEqual(errorCodesOf(socket.frames), [])
})

test('20 control frames in a second are accepted, and the 21st closes with rate_limited', async (t) => {
  const { lifecycle, sender, timers } = await startSockets(t)
  const live = lifecycle.add()
  const socket = await sender(live)
  for (let second = 0; second < 3; second += 1) {
    for (let i = 0; i < 20; i += 1) socket.send({ type: 'ping' })
    await eventually(() => assert.equal(socket.texts.filter((text) => text === PONG).length, 20 * (second + 1)))
    timers.advance(1000)
  }
  for (let i = 0; i < 21; i += 1) socket.send({ type: 'ping' })
  t.deepEqual(await socket.closed, { code: 1008, reason: 'rate_limited' })
  await eventually(() => assert.deepEqual(live.cause, { status: 'finished', reason: 'rate_limited' }))
})

test('any number of 8 ms audio frames is accepted, but not 1,001 shorter ones within 5 s', async (t) => {
  const { lifecycle, configured, pipelines, timers } = await startSockets(t)
  const [good, bad] = [lifecycle.add(), lifecycle.add()]
  const [steadySender, tinySender] = [await configured(good), await configured(bad)]
  for (let i = 0; i < 1002; i += 1) steadySender.sendAudio(audioOf(0.008))
  for (let i = 0; i < 1002; i += 1) tinySender.sendAudio(audioOf(0.001))
  await eventually(() => assert.equal(pipelines.of(good.id).pushed.length + pipelines.of(bad.id).pushed.length, 2004))
  timers.advance(5000)
  steadySender.sendAudio(audioOf(0.008))
  tinySender.sendAudio(audioOf(0.001))
  t.deepEqual(await tinySender.closed, { code: 1008, reason: 'rate_limited' })
  await eventually(() => assert.equal(pipelines.of(good.id).pushed.length, 1003))
})

test('a frame over 512 KiB closes the sender with 1009, and the session finishes without an error', async (t) => {
  const { lifecycle, configured } = await startSockets(t)
  const live = lifecycle.add()
  const socket = await configured(live)
  socket.send('x'.repeat(512 * 1024 + 1))
  t.is((await socket.closed).code, 1009)
  await eventually(() => assert.deepEqual(live.cause, { status: 'finished', reason: 'sender_closed' }))
})
