import test from 'ava'
import { wordErrorRate } from '../../../../domain/transcript/word-alignment.ts'
import type { Listing, LiveJson, Single } from '../../../support/service/client.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { runTestService } from '../../../support/service/service.ts'
import { sampleSentences, silence } from '../../../support/audio/speech.ts'

const service = await runTestService()
test.after.always(() => service.dispose())

test.serial('real speech over the WebSocket becomes text for sender and listeners', async (t) => {
  const client = await service.user('speaker')
  const sentences = (await sampleSentences()).slice(0, 3)

  const live = await client.createLive()
  t.is(live.status, 'pending')
  const listeners = await Promise.all([client.socket(live, 'listener'), client.socket(live, 'listener')])
  const sender = await client.socket(live, 'sender')
  t.deepEqual(await sender.frame(() => true), {
    type: 'connection',
    status: 'connected',
    role: 'sender',
    session_id: live.id,
    state: 'pending',
  })

  sender.send({ type: 'config', min_buffer: 1, max_buffer: 10, max_chars: 80, max_lines: 2 })
  await sender.frame((frame) => frame['status'] === 'started')
  t.deepEqual(sender.texts.slice(1, 3), ['{"status":"ASR process started"}', '{"status":"started"}'])
  t.is(
    (await client.get<Single<LiveJson>>(`/lives/${live.id}`)).body.data.status,
    'pending',
    'a config does not start the session',
  )

  for (const { samples } of sentences) {
    sender.sendAudio(samples)
    sender.sendAudio(silence(1.5))
  }
  sender.send({ type: 'FINISH' })
  for (const socket of [sender, ...listeners]) t.deepEqual(await socket.closed, { code: 1000, reason: '' })

  for (const socket of [sender, ...listeners]) t.is(socket.texts.at(-1), '{"status":"finished"}')
  const transcriptions = (socket: (typeof listeners)[0]) =>
    socket.frames.filter((frame) => frame['type'] === 'transcription')
  const [first] = listeners
  for (const socket of [sender, ...listeners]) t.deepEqual(transcriptions(socket), transcriptions(first))
  const finals = transcriptions(first).filter((frame) => frame['final'] === true)
  t.deepEqual(finals.map((frame) => frame['segment']), finals.map((_, index) => index + 1))
  t.is(finals.length, sentences.length, 'one final for each phrase')
  const text = finals.map((frame) => String(frame['text'])).join(' ')
  t.true(wordErrorRate(sentences.map((sentence) => sentence.text).join(' '), text) < 0.3, text)

  await client.untilStatus(live, 'finished')
  const { data } = (await client.get<Listing<LiveJson>>('/lives/?status=finished')).body
  t.deepEqual(
    data.map(({ id, status, vram }) => ({ id, status, vram })),
    [{ id: live.id, status: 'finished', vram: 0 }],
  )
  await eventually(async () => {
    if (!/^stenolog_vram_reserved_megabytes 0$/m.test((await client.get<string>('/metrics')).body))
      throw new Error('the memory of the session is still reserved')
  })
})

test.serial('two simultaneous sessions do not mix, and a misbehaving client does not affect them', async (t) => {
  const client = await service.user('second speaker')
  const sentences = await sampleSentences()
  const speeches = [sentences.slice(0, 2), sentences.slice(3, 5)]

  const malformed = await client.createLive()
  const misbehaving = await client.socket(malformed, 'sender')
  const badMessages = [
    'not json',
    '[]',
    { type: 'audio', data: 'AAAA' },
    { type: 'config', min_buffer: 'much' },
    { type: 'config' },
    { type: 'audio', data: '!!!' },
    { type: 'audio', data: 'AAA=' },
    { type: 'unknown' },
  ]

  const texts = await Promise.all(
    speeches.map(async (speech) => {
      const live = await client.createLive()
      const sender = await client.socket(live, 'sender')
      sender.send({ type: 'config' })
      for (const { samples } of speech) {
        for (let start = 0; start < samples.length; start += 3200) sender.sendAudio(samples.slice(start, start + 3200))
        sender.sendAudio(silence(1.5))
        for (const message of badMessages) misbehaving.send(message)
      }
      sender.send({ type: 'FINISH' })
      t.is((await sender.closed).code, 1000)
      const finals = sender.frames.filter((frame) => frame['final'] === true)
      return finals.map((frame) => String(frame['text'])).join(' ')
    }),
  )
  for (const [index, speech] of speeches.entries()) {
    const reference = speech.map(({ text }) => text).join(' ')
    t.true(wordErrorRate(reference, texts[index] ?? '') < 0.35, `${reference} / ${texts[index]}`)
  }
  t.is((await misbehaving.closed).code, 1008)
  await client.untilStatus(malformed, 'finished')
})
