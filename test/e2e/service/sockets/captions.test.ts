import test from 'ava'
import { openSocket } from '../../../support/service/client.ts'
import { finals, speak, transcriptions, words } from '../../../support/service/captions.ts'
import { runTestService, startTestService } from '../../../support/service/service.ts'
import { sampleSentences, silence } from '../../../support/audio/speech.ts'

const sentences = (await sampleSentences()).slice(0, 2)
const service = await runTestService()
test.after.always(() => service.dispose())
const [first] = sentences
if (first === undefined) throw new Error('the sample has sentences')

test.serial('captions have correct times, finals replace partials, and all sockets get equal frames', async (t) => {
  const client = await service.user('speaker')
  const live = await client.createLive({ config: { mode: 'partial' } })
  const listener = await client.socket(live, 'listener')
  const sender = await speak(client, live, {}, [
    silence(3),
    ...sentences.flatMap(({ samples }) => [samples, silence(2)]),
  ])
  await listener.closed
  t.deepEqual(transcriptions(listener), transcriptions(sender))

  const frames = transcriptions(sender)
  for (const frame of frames) {
    t.deepEqual(Object.keys(frame), ['type', 'start', 'end', 'text', 'language', 'segment', 'final'])
    t.true(0 <= Number(frame['start']) && Number(frame['start']) <= Number(frame['end']))
    t.is(frame['language'], 'en')
    t.true(String(frame['text']).length > 0)
  }
  t.true(frames.some(({ final }) => final === false), 'some frames are partials')
  const last = new Map(frames.map((frame) => [frame['segment'], frame['final']]))
  t.deepEqual([...new Set(last.values())], [true], 'the last frame of each segment is final')
  const finalFrames = finals(sender)
  t.deepEqual(finalFrames.map(({ segment }) => segment), finalFrames.map((_, index) => index + 1))
  for (const [index, { start }] of finalFrames.entries())
    t.true(index === 0 || Number(start) >= Number(finalFrames[index - 1]?.['end']))

  let sentenceStart = 3
  for (const [index, { samples }] of sentences.entries()) {
    // Each sentence begins and ends with about 0.2 s of quiet.
    const spoken = { start: sentenceStart + 0.2, end: sentenceStart + samples.length / 16000 - 0.2 }
    t.true(
      Math.abs(Number(finalFrames[index]?.['start']) - spoken.start) <= 1,
      `${JSON.stringify(finalFrames[index])} is spoken from ${spoken.start}`,
    )
    t.true(
      Math.abs(Number(finalFrames[index]?.['end']) - spoken.end) <= 1,
      `${JSON.stringify(finalFrames[index])} is spoken until ${spoken.end}`,
    )
    sentenceStart = spoken.end + 0.2 + 2
  }
})

test.serial('base64 and binary audio give equal text, and mode final sends only finals', async (t) => {
  const client = await service.user('finalist')
  const live = await client.createLive({ config: { mode: 'final' } })
  const listener = await client.socket(live, 'listener')
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config' })
  for (const { samples } of [first, { samples: silence(2) }])
    for (let start = 0; start < samples.length; start += 3200) {
      const chunk = samples.slice(start, start + 3200)
      sender.send({ type: 'audio', data: Buffer.from(chunk.buffer).toString('base64') })
    }
  sender.send({ type: '__FINISH__' })
  t.is((await sender.closed).code, 1000)
  await listener.closed
  t.deepEqual([...new Set(transcriptions(listener).map(({ final }) => final))], [true])
  const binary = await speak(client, await client.createLive({ config: { mode: 'final' } }), {}, [
    first.samples,
    silence(2),
  ])
  t.deepEqual(finals(sender).map(({ text }) => text), finals(binary).map(({ text }) => text))
  const metrics = (await service.anonymous().get<string>('/metrics')).body
  t.regex(metrics, /^stenolog_audio_to_text_seconds_count [1-9]/m)
})

test.serial('audio that a sender sent before it left is transcribed, then the session ends', async (t) => {
  const client = await service.user('leaver')
  for (const leave of ['close', 'terminate'] as const) {
    const live = await client.createLive()
    const listener = await client.socket(live, 'listener')
    const sender = await client.socket(live, 'sender')
    sender.send({ type: 'config' })
    sender.sendAudio(first.samples)
    // The pong shows that the service has received the audio.
    sender.send({ type: 'ping' })
    await sender.frame(({ type }) => type === 'pong')
    sender[leave]()
    t.deepEqual(await listener.closed, { code: 1000, reason: '' })
    t.true(words(finals(listener)).length > 10, leave)
    t.is(listener.texts.at(-1), '{"status":"finished"}')
    await client.untilStatus(live, 'finished')
  }
})

test.serial('the finish route transcribes the received audio before it answers', async (t) => {
  const client = await service.user('stopped')
  const live = await client.createLive()
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config' })
  sender.sendAudio(first.samples)
  sender.send({ type: 'ping' })
  await sender.frame(({ type }) => type === 'pong')
  t.is((await client.put(`/lives/${live.id}/finish`)).status, 200)
  t.is((await sender.closed).code, 1000)
  t.true(words(finals(sender)).length > 10)
  t.is(sender.texts.at(-1), '{"status":"finished"}')
})

test.serial('with COMPAT_STRICT a transcription has exactly the five members', async (t) => {
  const strict = await startTestService(t, { COMPAT_STRICT: '1' })
  const client = await strict.user('strict')
  const live = await client.createLive()
  const sender = await speak(client, live, {}, [first.samples, silence(2)])
  t.true(transcriptions(sender).length > 0)
  for (const frame of transcriptions(sender))
    t.deepEqual(Object.keys(frame), ['type', 'start', 'end', 'text', 'language'])
  t.deepEqual(sender.texts.slice(1, 3), ['{"status":"ASR process started"}', '{"status":"started"}'])
  t.is(sender.texts.at(-1), '{"status":"finished"}')
})

test.serial('200 listeners of a session all get every frame in equal order', async (t) => {
  const client = await service.user('popular')
  const live = await client.createLive()
  const listeners = await Promise.all(Array.from({ length: 200 }, () => client.socket(live, 'listener')))
  const sender = await speak(client, live, {}, [first.samples, silence(2)])
  await Promise.all(listeners.map(({ closed }) => closed))
  const texts = sender.texts.filter((text) => text.includes('"transcription"'))
  t.true(texts.length > 1)
  const different = listeners.filter((listener) => listener.texts.slice(2, -1).join('\n') !== texts.join('\n'))
  t.is(different.length, 0)
  t.true(
    listeners.every(
      ({ texts: received }) => received[1] === '{"status":"started"}' && received.at(-1) === '{"status":"finished"}',
    ),
  )
})

test.serial(
  'after kill -9 at the end of a session, ?after and ?replay resend the identical bytes from the log',
  async (t) => {
    const client = await service.user('returning')
    const live = await client.createLive()
    const { texts } = await speak(client, live, { max_chars: 14, max_lines: 2 }, [first.samples, silence(2)])
    const sentFinals = texts.filter((text) => text.includes('"final":true'))
    t.true(
      sentFinals.length > 1 && sentFinals.some((text) => text.includes('\\n')),
      'there are several finals, and one has several lines',
    )
    await service.kill()
    await service.start()
    for (const [query, expected] of [
      ['after=1', sentFinals.slice(1)],
      ['replay=1', sentFinals.slice(-1)],
      ['after=0', sentFinals],
    ] as const) {
      const returned = await openSocket(
        `${service.url().replace('http', 'ws')}${live.relative_path}?token=${live.listener_token}&${query}`,
      )
      t.deepEqual(await returned.closed, { code: 4410, reason: 'session_finished' })
      t.deepEqual(returned.texts.slice(1, -1), expected, query)
    }
  },
)
