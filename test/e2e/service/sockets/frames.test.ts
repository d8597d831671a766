import test from 'ava'
import type { Client, Json, LiveJson, Single, TestSocket } from '../../../support/service/client.ts'
import { runTestService } from '../../../support/service/service.ts'
import { silence } from '../../../support/audio/speech.ts'

// RATE_LIMIT also turns the WebSocket limits on.
const service = await runTestService({ RATE_LIMIT: '50' })
test.after.always(() => service.dispose())

const statusOf = async (client: Client, id: number): Promise<string> =>
  (await client.get<Single<LiveJson>>(`/lives/${id}`)).body.data.status
const isError = (code: string) => (frame: Json) => frame['code'] === code
const codes = (socket: TestSocket): ReadonlyArray<unknown> =>
  socket.frames.flatMap(({ code }) => (code === undefined ? [] : [code]))
const base64 = (samples: Int16Array): string =>
  Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength).toString('base64')

/** Opens a sender, sends a config, and waits for `started`. */
const startSender = async (client: Client, live: LiveJson): Promise<TestSocket> => {
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config' })
  await sender.frame(({ status }) => status === 'started')
  return sender
}

test('configs are answered in order, may repeat until the first audio, and do not start the session', async (t) => {
  const client = await service.user('configuring')
  const live = await client.createLive()
  const sender = await client.socket(live, 'sender')
  for (const bad of [{ max_chars: 0 }, { min_buffer: '1' }, { mode: 'both' }, { min_buffer: 20, max_buffer: 2 }])
    sender.send({ type: 'config', ...bad })
  sender.send({ type: 'config', unknown: 1, max_lines: 3 })
  await sender.frame(({ status }) => status === 'started')
  t.deepEqual(codes(sender), Array.from({ length: 4 }, () => 'invalid_config'))
  t.deepEqual(sender.texts.slice(-2), ['{"status":"ASR process started"}', '{"status":"started"}'])
  sender.send({ type: 'config', min_buffer: 1, max_buffer: 10, max_chars: 80, max_lines: 2 })
  sender.send({ type: 'ping' })
  await sender.frame(({ type }) => type === 'pong')
  t.is(sender.texts.filter((text) => text === '{"status":"ASR process started"}').length, 2)
  t.is(await statusOf(client, live.id), 'pending')
  sender.send({ type: 'audio', data: base64(silence(0.1)) })
  await client.untilStatus(live, 'active')
  sender.send({ type: 'config' })
  t.deepEqual(Object.keys(await sender.frame(isError('config_too_late'))), ['type', 'code', 'detail'])
  const changed = (await client.get<Single<LiveJson>>(`/lives/${live.id}`)).body.data
  t.true(String(changed['updated_at']) >= live.created_at, 'updated_at is not before created_at')
  t.is(changed.vram, live.vram, 'a start does not change the memory')
  sender.send({ type: 'FINISH' })
  t.deepEqual(await sender.closed, { code: 1000, reason: '' })
})

test('audio before config is dropped with an error, and a config makes the connection usable', async (t) => {
  const client = await service.user('hasty')
  const live = await client.createLive()
  const sender = await client.socket(live, 'sender')
  for (let n = 0; n < 5; n += 1) sender.sendAudio(silence(0.1))
  await sender.frame(isError('config_required'))
  t.is(await statusOf(client, live.id), 'pending')
  sender.send({ type: 'config' })
  sender.sendAudio(silence(0.1))
  await client.untilStatus(live, 'active')
  t.deepEqual([...new Set(codes(sender))], ['config_required'])
  sender.send({ type: '__FINISH__' })
  t.is((await sender.closed).code, 1000)
})

test('the eleventh bad frame closes the sender with 1008 and the listeners with 1000', async (t) => {
  const client = await service.user('rude')
  const live = await client.createLive()
  const listener = await client.socket(live, 'listener')
  const sender = await startSender(client, live)
  const bad: ReadonlyArray<readonly [unknown, string]> = [
    ['no json', 'invalid_message'],
    ['[]', 'invalid_message'],
    ['{"data":1}', 'invalid_message'],
    [{ type: 'finish' }, 'invalid_message'],
    [{ type: 'audio', data: 'AAA' }, 'invalid_audio'],
    [{ type: 'audio', data: 'AA A' }, 'invalid_audio'],
    [{ type: 'audio', data: '_-__' }, 'invalid_audio'],
    [{ type: 'audio', data: 'data:audio/l16;base64,AAAA' }, 'invalid_audio'],
    [{ type: 'audio', data: 'AAAA' }, 'invalid_audio'],
    [{ type: 'audio' }, 'invalid_audio'],
  ]
  for (const [message] of bad) sender.send(message)
  sender.send({ type: 'audio', data: '' })
  sender.send({ type: 'ping' })
  await sender.frame(({ type }) => type === 'pong')
  t.deepEqual(codes(sender), bad.map(([, code]) => code))
  t.is(await statusOf(client, live.id), 'pending')
  sender.sendAudio(silence(0.1))
  await client.untilStatus(live, 'active')
  sender.send({ type: 'audio', data: 'A' })
  t.deepEqual(await sender.closed, { code: 1008, reason: 'invalid_audio' })
  t.deepEqual(await listener.closed, { code: 1000, reason: '' })
  t.is(listener.texts.at(-1), '{"status":"finished"}')
  await client.untilStatus(live, 'finished')
})

test('a frame holds at most 10 s of audio and 512 KiB', async (t) => {
  const client = await service.user('bulky')
  const live = await client.createLive()
  const sender = await startSender(client, live)
  sender.sendAudio(silence(10))
  sender.sendAudio(silence(10.001))
  await sender.frame(isError('invalid_audio'))
  sender.send({ type: 'audio', data: 'A'.repeat(530_000) })
  t.is((await sender.closed).code, 1009)
  await client.untilStatus(live, 'finished')
})

test('control messages of a listener are refused, and the fourth message closes its socket', async (t) => {
  const client = await service.user('pushy')
  const live = await client.createLive()
  const sender = await startSender(client, live)
  const listener = await client.socket(live, 'listener')
  listener.send({ type: 'config' })
  listener.sendAudio(silence(0.1))
  listener.send({ type: 'FINISH' })
  listener.send({ type: 'ping' })
  await listener.frame(({ type }) => type === 'pong')
  t.deepEqual(codes(listener), ['forbidden', 'forbidden', 'forbidden'])
  listener.send({ type: 'audio', data: 'AAA=' })
  t.deepEqual(await listener.closed, { code: 4403, reason: 'forbidden' })
  t.is(await statusOf(client, live.id), 'pending')
  sender.send({ type: 'FINISH' })
  t.is((await sender.closed).code, 1000)
})

test('a session with a URL accepts a config, but no audio', async (t) => {
  const client = await service.user('pulling')
  const live = await client.createLive({ audio_format: 'hls', audio_url: 'https://example.com/a.m3u8' })
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config' })
  await sender.frame(({ status }) => status === 'ASR process started')
  sender.sendAudio(silence(0.1))
  await sender.frame(isError('audio_not_expected'))
  t.is(await statusOf(client, live.id), 'pending')
  sender.send({ type: 'FINISH' })
  t.deepEqual(await sender.closed, { code: 1000, reason: '' })
})

test('a sender that closes or disconnects finishes its session, frees its memory and closes listeners', async (t) => {
  const client = await service.user('leaving')
  for (const leave of ['close', 'terminate'] as const) {
    const live = await client.createLive()
    const listener = await client.socket(live, 'listener')
    const sender = await startSender(client, live)
    sender.sendAudio(silence(0.2))
    sender[leave]()
    t.deepEqual(await listener.closed, { code: 1000, reason: '' }, leave)
    t.is(listener.texts.at(-1), '{"status":"finished"}')
    await client.untilStatus(live, 'finished')
    t.is((await client.get<Single<LiveJson>>(`/lives/${live.id}`)).body.data.vram, 0)
    t.is((await (await client.socket(live, 'sender')).closed).code, 4410)
  }
})

test('the finish route closes sender and listeners with the documented frame', async (t) => {
  const client = await service.user('routing')
  const live = await client.createLive()
  const listener = await client.socket(live, 'listener')
  const sender = await startSender(client, live)
  sender.sendAudio(silence(0.5))
  const { body } = await client.put<Single<LiveJson>>(`/lives/${live.id}/finish`)
  t.like(body.data, { status: 'finished', vram: 0 })
  for (const socket of [sender, listener]) {
    t.deepEqual(await socket.closed, { code: 1000, reason: '' })
    t.is(socket.texts.at(-1), '{"status":"finished"}')
  }
})

test('FINISH before any audio ends a pending session, and later messages are ignored', async (t) => {
  const client = await service.user('empty')
  const live = await client.createLive()
  const sender = await client.socket(live, 'sender')
  for (const message of [{ type: 'FINISH' }, { type: '__FINISH__' }, { type: 'audio', data: 'AAA=' }])
    sender.send(message)
  t.deepEqual(await sender.closed, { code: 1000, reason: '' })
  t.deepEqual(codes(sender), [])
  await client.untilStatus(live, 'finished')
})

test('a flood of control frames closes the sender with rate_limited and listeners with finished', async (t) => {
  const client = await service.user('flooding')
  const live = await client.createLive()
  const listener = await client.socket(live, 'listener')
  const sender = await client.socket(live, 'sender')
  for (let n = 0; n < 100; n += 1) sender.send({ type: 'ping' })
  t.deepEqual(await sender.closed, { code: 1008, reason: 'rate_limited' })
  t.like(sender.frames.at(-1), { type: 'error', code: 'rate_limited' })
  t.deepEqual(await listener.closed, { code: 1000, reason: '' })
  await client.untilStatus(live, 'finished')
})
