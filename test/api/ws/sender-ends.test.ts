import test from 'ava'
import assert from 'node:assert/strict'
import { eventually } from '../../support/tools/eventually.ts'
import { audioOf, awaitPongs, errorCodesOf, startSockets } from '../../support/worlds/socket-world.ts'

const FINISHED = '{"status":"finished"}'

for (const type of ['FINISH', '__FINISH__']) {
  test(`${type} sends the last segments and finished, then closes with 1000`, async (t) => {
    const { lifecycle, configured, listener, sessions } = await startSockets(t)
    const live = lifecycle.add()
    const [sending, listening] = [await configured(live), await listener(live)]
    sending.sendAudio(audioOf(0.5))
    sending.send({ type })
    sending.send({ type })
    sending.sendAudio(audioOf(0.5))
    sending.send({ type: 'config' })
    sending.send('not JSON')
    const tail = [
      '{"type":"transcription","start":0,"end":0.5,"text":"heard 8000","language":"en","segment":1,"final":true}',
      FINISHED,
    ]
    t.deepEqual(await sending.closed, { code: 1000, reason: '' })
    t.deepEqual(await listening.closed, { code: 1000, reason: '' })
    t.deepEqual(sending.texts.slice(3), tail)
    t.deepEqual(listening.texts.slice(1), tail)
    t.deepEqual(live.cause, { status: 'finished', reason: 'finish_message' })
    t.deepEqual(live.writes, ['start', 'segment 1', 'end'])
    t.is(sessions.count(), 0)
  })
}

for (const leave of ['close', 'terminate'] as const) {
  test(`a sender that leaves by ${leave} finishes the session, and its audio is transcribed`, async (t) => {
    const { lifecycle, configured, listener } = await startSockets(t)
    const live = lifecycle.add()
    const [sending, listening] = [await configured(live), await listener(live)]
    sending.sendAudio(audioOf(0.5))
    await eventually(() => assert.equal(live.status, 'active'))
    sending[leave]()
    t.deepEqual(await listening.closed, { code: 1000, reason: '' })
    t.is((await listening.frame(({ type }) => type === 'transcription'))['text'], 'heard 8000')
    t.is(listening.texts.at(-1), FINISHED)
    t.deepEqual(live.cause, { status: 'finished', reason: 'sender_closed' })
  })
}

test('the eleventh bad message of a sender closes it with 1008 and finishes the session', async (t) => {
  const { lifecycle, configured, pipelines } = await startSockets(t, {}, { rateLimits: false })
  const live = lifecycle.add()
  const socket = await configured(live)
  for (const bad of [
    '{',
    '[]',
    '7',
    '{}',
    '{"type":"stop"}',
    '{"type":"audio"}',
    '{"type":"config","max_lines":0}',
    'null',
    '""',
    'x',
  ])
    socket.send(bad)
  socket.sendAudio(audioOf(0.1))
  await eventually(() => assert.equal(pipelines.of(live.id).samples(), 1600))
  await awaitPongs(socket)
  t.is(errorCodesOf(socket.frames).length, 10)
  socket.send('{"type":"audio","data":"?"}')
  t.deepEqual(await socket.closed, { code: 1008, reason: 'invalid_audio' })
  t.is(errorCodesOf(socket.frames).at(-1), 'invalid_audio')
  await eventually(() => assert.deepEqual(live.cause, { status: 'finished', reason: 'bad_frames' }))
  t.is(live.status, 'finished', 'the session does not fail')
})

test('another audio format is named with each frame, and the eleventh frame closes the sender with 1008', async (t) => {
  const { lifecycle, configured, pipelines } = await startSockets(t)
  const live = lifecycle.add()
  const socket = await configured(live)
  socket.sendAudio(new Int16Array(new Uint8Array(Buffer.from('1a45dfa39f428681', 'hex')).buffer))
  for (let n = 0; n < 10; n += 1) socket.sendAudio(audioOf(0.1))
  t.deepEqual(await socket.closed, { code: 1008, reason: 'invalid_audio' })
  const errors = socket.frames.filter(({ type }) => type === 'error')
  t.deepEqual(errors, Array.from({ length: 11 }, () => ({
    type: 'error', code: 'invalid_audio',
    detail: 'This is WebM or Matroska: send 16-bit little-endian mono PCM at 16 kHz without a container',
  })))
  t.is(pipelines.of(live.id).samples(), 0)
  await eventually(() => assert.deepEqual(live.cause, { status: 'finished', reason: 'bad_frames' }))
})

test('a misbehaving client does not affect another session', async (t) => {
  const { lifecycle, configured, listener, pipelines } = await startSockets(t, {}, { rateLimits: false })
  const [good, bad] = [lifecycle.add(), lifecycle.add()]
  const [sending, malformed, listening] = [await configured(good), await configured(bad), await listener(good)]
  for (let i = 0; i < 11; i += 1) {
    sending.sendAudio(audioOf(0.1))
    malformed.send(
      ['{', '{"type":"audio","data":"AAA"}', '{"type":"audio","data":"AAAA"}', '{"type":"config","vad":7}'][i % 4],
    )
    await eventually(() => assert.equal(pipelines.of(good.id).pushed.length, i + 1))
  }
  t.is((await malformed.closed).code, 1008)
  sending.send({ type: 'FINISH' })
  t.deepEqual(await listening.closed, { code: 1000, reason: '' })
  t.deepEqual(listening.texts.slice(1), [
    '{"type":"transcription","start":0,"end":0.5,"text":"heard 17600","language":"en","segment":1,"final":true}',
    FINISHED,
  ])
  t.deepEqual(errorCodesOf(sending.frames), [])
})
