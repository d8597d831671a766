import test from 'ava'
import assert from 'node:assert/strict'
import { eventually } from '../../support/tools/eventually.ts'
import { audioOf, base64Of, awaitPongs, errorCodesOf, startSockets } from '../../support/worlds/socket-world.ts'

const ASR_STARTED = '{"status":"ASR process started"}'
const STARTED = '{"status":"started"}'

test('of 20 simultaneous senders exactly one stays; the others are closed with 4409 and the reason', async (t) => {
  const { lifecycle, sender, pipelines } = await startSockets(t)
  const live = lifecycle.add()
  const sockets = await Promise.all(Array.from({ length: 20 }, async () => sender(live)))
  await eventually(() => {
    assert.equal(sockets.filter(({ frames }) => errorCodesOf(frames).includes('sender_already_connected')).length, 19)
  })
  const winner = sockets.find(({ frames }) => errorCodesOf(frames).length === 0)
  t.truthy(winner)
  for (const socket of sockets) {
    t.is(socket.frames[0]?.['type'], 'connection')
    if (socket !== winner) t.deepEqual(await socket.closed, { code: 4409, reason: 'sender_already_connected' })
  }
  winner?.send({ type: 'config' })
  await winner?.frame(({ status }) => status === 'started')
  winner?.sendAudio(audioOf(0.1))
  await eventually(() => assert.equal(pipelines.of(live.id).samples(), 1600))
  winner?.send({ type: 'FINISH' })
  t.deepEqual(await winner?.closed, { code: 1000, reason: '' })
})

test('a config is acknowledged to the sender, then sender and listeners get started', async (t) => {
  const { lifecycle, sender, listener, pipelines } = await startSockets(t, { loads: false })
  const live = lifecycle.add()
  const [sending, listening] = [await sender(live), await listener(live)]
  sending.send({ type: 'config', min_buffer: 0.5, max_buffer: 8, max_chars: 40, max_lines: 1 })
  await sending.frame(({ status }) => status === 'ASR process started')
  pipelines.of(live.id).load()
  await sending.frame(({ status }) => status === 'started')
  await listening.frame(({ status }) => status === 'started')
  t.deepEqual(sending.texts.slice(1), [ASR_STARTED, STARTED])
  t.deepEqual(listening.texts.slice(1), [STARTED])
  t.like(pipelines.of(live.id).settings(), {
    min_buffer: 0.5,
    max_buffer: 8,
    max_chars: 40,
    max_lines: 1,
    buffer_timeout: 1,
  })
})

test('an empty config uses the settings of the session, and an invalid config can be corrected', async (t) => {
  const { lifecycle, sender, pipelines } = await startSockets(t)
  const live = lifecycle.add()
  const socket = await sender(live)
  for (const bad of [
    '{"type":"config","min_buffer":0}',
    '{"type":"config","max_chars":1e999}',
    '{"type":"config","min_buffer":20}',
  ])
    socket.send(bad)
  socket.send({ type: 'config' })
  await socket.frame(({ status }) => status === 'started')
  t.deepEqual(errorCodesOf(socket.frames), ['invalid_config', 'invalid_config', 'invalid_config'])
  t.is(pipelines.of(live.id).settings().min_buffer, 1)
})

test('audio before config is dropped with at most one error a second, and the connection stays open', async (t) => {
  const { lifecycle, sender, pipelines, timers } = await startSockets(t)
  const live = lifecycle.add()
  const socket = await sender(live)
  for (let i = 0; i < 15; i += 1) socket.sendAudio(audioOf(0.1))
  socket.send({ type: 'ping' })
  await socket.frame(({ type }) => type === 'pong')
  t.deepEqual(errorCodesOf(socket.frames), ['config_required'])
  timers.advance(1000)
  socket.sendAudio(audioOf(0.1))
  await eventually(() => assert.deepEqual(errorCodesOf(socket.frames), ['config_required', 'config_required']))
  socket.send({ type: 'config' })
  socket.send({ type: 'audio', data: base64Of(audioOf(0.2)) })
  await eventually(() => assert.equal(pipelines.of(live.id).samples(), 3200))
  t.is(live.status, 'active')
})

test('connecting and sending a config leave the session pending', async (t) => {
  const { lifecycle, configured } = await startSockets(t)
  const live = lifecycle.add()
  const socket = await configured(live)
  socket.send({ type: 'audio', data: '' })
  socket.send({ type: 'ping' })
  await socket.frame(({ type }) => type === 'pong')
  t.is(live.status, 'pending')
})

test('a config after the first audio is too late and changes nothing', async (t) => {
  const { lifecycle, configured, pipelines } = await startSockets(t)
  const live = lifecycle.add()
  const socket = await configured(live)
  socket.sendAudio(audioOf(0.1))
  socket.send({ type: 'config', max_chars: 5 })
  await socket.frame(({ code }) => code === 'config_too_late')
  t.is(pipelines.of(live.id).settings().max_chars, 80)
})

test('prompt and hotwords may change after the first audio and are acknowledged like a config', async (t) => {
  const { lifecycle, configured, pipelines } = await startSockets(t)
  const live = lifecycle.add()
  const socket = await configured(live)
  socket.sendAudio(audioOf(0.1))
  for (const hotwords of ['Babbage', [''], Array.from({ length: 101 }, () => 'x')])
    socket.send({ type: 'config', hotwords })
  socket.send({ type: 'config', prompt: 'x'.repeat(1001) })
  const answers = (): ReadonlyArray<unknown> => socket.frames.slice(3).map(({ code, status }) => code ?? status)
  socket.send({ type: 'config', hotwords: ['Babbage'], prompt: null })
  await eventually(() =>
    assert.deepEqual(answers(), [...Array.from({ length: 4 }, () => 'invalid_config'), 'ASR process started']),
  )
  t.deepEqual(pipelines.of(live.id).vocabularies.at(-1), { prompt: '', hotwords: ['Babbage'] })
})

test('audio that arrives before the model is ready is transcribed', async (t) => {
  const { lifecycle, sender, pipelines } = await startSockets(t, { loads: false })
  const live = lifecycle.add()
  const socket = await sender(live)
  socket.send({ type: 'config' })
  for (let i = 0; i < 5; i += 1) socket.sendAudio(audioOf(0.1))
  await eventually(() => assert.equal(pipelines.of(live.id).samples(), 8000))
  pipelines.of(live.id).load()
  await socket.frame(({ status }) => status === 'started')
  socket.send({ type: 'FINISH' })
  t.is((await socket.frame(({ type }) => type === 'transcription'))['text'], 'heard 8000')
})

test('invalid audio is refused, and valid audio after it is accepted as base64 and as binary', async (t) => {
  const { lifecycle, configured, pipelines } = await startSockets(t)
  const live = lifecycle.add()
  const socket = await configured(live)
  for (const data of ['AA AA', '_-_-', 'AAA', 'data:,AAAA', 'AAAA', 7, null]) socket.send({ type: 'audio', data })
  socket.sendAudio(audioOf(10.1))
  socket.send({ type: 'audio', data: base64Of(Int16Array.from([1, 2])) })
  socket.sendAudio(Int16Array.from([3, -4]))
  await eventually(() =>
    assert.deepEqual(pipelines.of(live.id).pushed.map((samples) => [...samples]), [[1, 2], [3, -4]]),
  )
  await awaitPongs(socket)
  t.deepEqual(errorCodesOf(socket.frames), Array.from({ length: 8 }, () => 'invalid_audio'))
})

test('a session with a URL refuses audio from a sender', async (t) => {
  const { lifecycle, configured } = await startSockets(t)
  const live = lifecycle.add({ audioFormat: 'hls' })
  const socket = await configured(live)
  for (let i = 0; i < 15; i += 1) socket.sendAudio(audioOf(0.1))
  socket.send({ type: 'ping' })
  await socket.frame(({ type }) => type === 'pong')
  t.deepEqual(errorCodesOf(socket.frames), ['audio_not_expected'])
  t.is(live.status, 'pending')
})
