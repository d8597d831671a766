import test from 'ava'
import assert from 'node:assert/strict'
import { eventually } from '../../support/tools/eventually.ts'
import { audioOf, errorCodesOf, startSockets } from '../../support/worlds/socket-world.ts'

const attempts = {
  config: '{"type":"config"}',
  audio: '{"type":"audio","data":"?"}',
  FINISH: '{"type":"FINISH"}',
  __FINISH__: '{"type":"__FINISH__"}',
}

for (const [type, message] of Object.entries(attempts)) {
  test(`a listener that sends ${type} gets error forbidden; a fourth message closes it with 4403`, async (t) => {
    const { lifecycle, configured, listener } = await startSockets(t)
    const live = lifecycle.add()
    const [sending, listening] = [await configured(live), await listener(live)]
    for (let i = 0; i < 4; i += 1) listening.send(message)
    t.deepEqual(await listening.closed, { code: 4403, reason: 'forbidden' })
    t.deepEqual(errorCodesOf(listening.frames), ['forbidden', 'forbidden', 'forbidden', 'forbidden'])
    sending.send({ type: 'ping' })
    await sending.frame(({ type: answer }) => answer === 'pong')
    t.is(live.status, 'pending')
  })
}

test('a listener may not send binary frames', async (t) => {
  const { lifecycle, configured, listener, pipelines } = await startSockets(t)
  const live = lifecycle.add()
  await configured(live)
  const listening = await listener(live)
  for (let i = 0; i < 4; i += 1) listening.sendAudio(audioOf(0.01))
  t.is((await listening.closed).code, 4403)
  t.is(pipelines.of(live.id).samples(), 0)
})

test('the eleventh bad message closes a listener with 1008, and the session continues', async (t) => {
  const { lifecycle, configured, listener } = await startSockets(t)
  const live = lifecycle.add()
  await configured(live)
  const listening = await listener(live)
  for (let i = 0; i < 10; i += 1) listening.send('{')
  listening.send({ type: 'ping' })
  await listening.frame(({ type }) => type === 'pong')
  listening.send('{')
  t.deepEqual(await listening.closed, { code: 1008, reason: 'invalid_message' })
  t.is(live.status, 'pending')
})

test('a frame over 4 KiB closes a listener with 1009, and the session continues', async (t) => {
  const { lifecycle, configured, listener, sockets } = await startSockets(t)
  const live = lifecycle.add()
  await configured(live)
  const [first, second] = [await listener(live), await listener(live)]
  first.send('x'.repeat(4097))
  t.is((await first.closed).code, 1009)
  second.terminate()
  await eventually(() => assert.deepEqual(sockets.counts(), { sender: 1, listener: 0 }))
  t.is(live.status, 'pending')
})

test('the sender and 200 listeners of a pending session get equal frames in equal order', async (t) => {
  const { lifecycle, listener, sender, pipelines } = await startSockets(t)
  const live = lifecycle.add()
  const listening = await Promise.all(Array.from({ length: 200 }, async () => listener(live)))
  const sending = await sender(live)
  sending.send({ type: 'config' })
  await sending.frame(({ status }) => status === 'started')
  sending.sendAudio(audioOf(0.1))
  await eventually(() => assert.equal(live.status, 'active'))
  for (let segment = 1; segment <= 20; segment += 1) {
    pipelines.of(live.id).partial(segment, 'par')
    await pipelines.of(live.id).final(segment, `partial no more: ${segment}`)
  }
  sending.send({ type: 'FINISH' })
  await Promise.all(listening.map(async ({ closed }) => closed))
  await sending.closed
  const expected = sending.texts.slice(2)
  t.is(expected.length, 1 + 20 * 2 + 1 + 1)
  for (const { texts } of listening) t.deepEqual(texts.slice(1), expected)
})

test('with COMPAT_STRICT a transcription has exactly the members of the interface', async (t) => {
  const { lifecycle, configured, listener, pipelines } = await startSockets(t, {}, { strict: true })
  const live = lifecycle.add()
  await configured(live)
  const listening = await listener(live)
  await pipelines.of(live.id).final(1, 'Hello')
  await listening.frame(({ type }) => type === 'transcription')
  t.is(listening.texts[1], '{"type":"transcription","start":0,"end":0.5,"text":"Hello","language":"en"}')
})

test('a partial frame is followed by a final frame with the same segment number', async (t) => {
  const { lifecycle, configured, listener, pipelines } = await startSockets(t)
  const live = lifecycle.add()
  await configured(live)
  const listening = await listener(live)
  pipelines.of(live.id).partial(1, 'Hel')
  await pipelines.of(live.id).final(1, 'Hello')
  await listening.frame(({ final }) => final === true)
  t.deepEqual(
    listening.frames.slice(1).map(({ segment, final, text }) => ({ segment, final, text })),
    [{ segment: 1, final: false, text: 'Hel' }, { segment: 1, final: true, text: 'Hello' }],
  )
})

test('a late listener gets only the frames that are sent after it connected', async (t) => {
  const { lifecycle, configured, listener, pipelines } = await startSockets(t)
  const live = lifecycle.add()
  await configured(live)
  await pipelines.of(live.id).final(1, 'before')
  const late = await listener(live)
  await pipelines.of(live.id).final(2, 'after')
  await late.frame(({ type }) => type === 'transcription')
  t.deepEqual(late.frames.map(({ type, text }) => text ?? type), ['connection', 'after'])
})
