import test from 'ava'
import { openSocket } from '../../support/service/client.ts'
import type { Client, Json, LiveJson, TestSocket } from '../../support/service/client.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { runTestService, startTestService } from '../../support/service/service.ts'
import { sampleSentences, silence } from '../../support/audio/speech.ts'

const sentences = (await sampleSentences()).slice(0, 2)
const service = await runTestService()
test.after.always(() => service.dispose())
const [first] = sentences
if (first === undefined) throw new Error('the sample has sentences')

const transcriptions = (socket: TestSocket): ReadonlyArray<Json> =>
  socket.frames.filter(({ type }) => type === 'transcription')
const finals = (socket: TestSocket): ReadonlyArray<Json> => transcriptions(socket).filter(({ final }) => final === true)
const words = (frames: ReadonlyArray<Json>): string =>
  frames.map(({ text }) => String(text).replaceAll('\n', ' ')).join(' ')

const speak = async (
  client: Client,
  live: LiveJson,
  config: Json,
  speech: ReadonlyArray<Int16Array>,
): Promise<TestSocket> => {
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config', ...config })
  for (const samples of speech)
    for (let at = 0; at < samples.length; at += 3200) sender.sendAudio(samples.slice(at, at + 3200))
  sender.send({ type: 'FINISH' })
  const { code } = await sender.closed
  if (code !== 1000) throw new Error(`closed with ${code}: ${sender.texts.at(-1)}`)
  return sender
}

test.serial(
  'captions have correct times, finals replace partials, and all sockets get equal frames [R141 R142 R150 R152–R154]',
  async (t) => {
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
    t.true(frames.some(({ final }) => final === false), 'partials come in between')
    const last = new Map(frames.map((frame) => [frame['segment'], frame['final']]))
    t.deepEqual([...new Set(last.values())], [true], 'the last frame of each segment is final')
    const ends = finals(sender)
    t.deepEqual(ends.map(({ segment }) => segment), ends.map((_, index) => index + 1))
    for (const [index, { start }] of ends.entries())
      t.true(index === 0 || Number(start) >= Number(ends[index - 1]?.['end']))

    let at = 3
    for (const [index, { samples }] of sentences.entries()) {
      const spoken = { start: at + 0.2, end: at + samples.length / 16000 - 0.2 }
      t.true(
        Math.abs(Number(ends[index]?.['start']) - spoken.start) <= 1,
        `${JSON.stringify(ends[index])} is spoken from ${spoken.start}`,
      )
      t.true(
        Math.abs(Number(ends[index]?.['end']) - spoken.end) <= 1,
        `${JSON.stringify(ends[index])} is spoken until ${spoken.end}`,
      )
      at = spoken.end + 0.2 + 2
    }
  },
)

test.serial('base64 and binary audio give equal text, and mode final sends only finals [R142 R154]', async (t) => {
  const client = await service.user('finalist')
  const live = await client.createLive({ config: { mode: 'final' } })
  const listener = await client.socket(live, 'listener')
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config' })
  for (const { samples } of [first, { samples: silence(2) }])
    for (let at = 0; at < samples.length; at += 3200) {
      const chunk = samples.slice(at, at + 3200)
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

test.serial('lines respect max_chars and frames max_lines, without losing a word [R157]', async (t) => {
  const client = await service.user('narrow')
  const speech = sentences.flatMap(({ samples }) => [samples, silence(2)])
  const wide = await speak(client, await client.createLive({ config: { max_chars: 1000 } }), {}, speech)
  const narrow = await speak(client, await client.createLive(), { max_chars: 14, max_lines: 3 }, speech)
  const captions = transcriptions(narrow).map(({ text }) => String(text).split('\n'))
  t.deepEqual(captions.flat().filter((line) => line.length > 14), [])
  t.is(Math.max(...captions.map((lines) => lines.length)), 3)
  t.is(words(finals(narrow)), words(finals(wide)))
  t.true(finals(narrow).length > finals(wide).length)
})

/** Opens a configured sender of a new session. */
const open = async (client: Client, config: Json): Promise<TestSocket> => {
  const sender = await client.socket(await client.createLive({ config }), 'sender')
  sender.send({ type: 'config' })
  return sender
}

const ROOMY = { max_chars: 1000, max_delay: 60, min_buffer: 1, max_buffer: 30, buffer_timeout: 30 }

test.serial('silence of buffer_timeout makes a phrase final, and half a second less does not [R156]', async (t) => {
  const [one, two] = sentences
  const sender = await open(await service.user('pausing'), { ...ROOMY, buffer_timeout: 3 })
  for (const samples of [one?.samples, silence(2.1), two?.samples]) sender.sendAudio(samples ?? silence(1))
  const later = String(two?.text.split(' ').at(2)).toLowerCase()
  await sender.frame(({ type, text }) => type === 'transcription' && String(text).toLowerCase().includes(later))
  t.deepEqual(
    finals(sender),
    [],
    'a pause of 2.5 s, including the quiet ends of the sentences, does not end the phrase',
  )
  sender.sendAudio(silence(3.1))
  const { text, segment } = await sender.frame(({ final }) => final === true)
  t.is(segment, 1)
  t.true(String(text).toLowerCase().includes(later), 'one phrase')
  sender.terminate()
})

test.serial('max_buffer and max_delay force finals in speech without a pause [R156]', async (t) => {
  t.timeout(180_000)
  const client = await service.user('hasty')
  // Without the quiet ends of its sentences the speech has no pause.
  const speech = (await sampleSentences()).slice(0, 4).map(({ samples }) => samples.slice(4000, -4000))
  const seconds = speech.reduce((sum, { length }) => sum + length, 0) / 16000
  const short = await open(client, { ...ROOMY, max_buffer: 3 })
  const prompt = await open(client, { ...ROOMY, mode: 'final', max_delay: 2 })
  for (const samples of speech) short.sendAudio(samples)
  // Shorter than the model's window, because a full window forces finals too.
  const few = speech.slice(0, 3)
  const window = few.reduce((sum, { length }) => sum + length, 0) / 16000
  t.true(window < 9)
  for (const samples of few) prompt.sendAudio(samples)
  await short.frame(({ final, end }) => final === true && Number(end) > seconds - 3.5)
  for (const { start, end } of finals(short))
    t.true(Number(end) - Number(start) <= 3.5, `${String(start)} to ${String(end)}`)
  await prompt.frame(({ final, end }) => final === true && Number(end) > window - 3)
  for (const sender of [short, prompt]) sender.terminate()
})

test.serial('a pass waits for min_buffer seconds of audio [D17]', async (t) => {
  const client = await service.user('buffering')
  const speech = Int16Array.from(sentences.flatMap(({ samples }) => Array.from(samples.subarray(4000, -4000))))
  const [patient, eager] = [
    await open(client, { ...ROOMY, min_buffer: 5 }),
    await open(client, { ...ROOMY, min_buffer: 0.3 }),
  ]
  for (const sender of [patient, eager]) await sender.frame(({ status }) => status === 'started')
  const piece = 1.1 * 16_000
  for (const n of [0, 1, 2, 3]) {
    const passes = transcriptions(eager).length
    // The waiting sender comes first, so a premature pass would be visible before the other sender's text.
    for (const sender of [patient, eager]) sender.sendAudio(speech.slice(n * piece, (n + 1) * piece))
    await eventually(
      () => {
        if (transcriptions(eager).length === passes) throw new Error(`${n + 1} pieces of speech and nothing new`)
      },
      { timeoutMs: 60_000 },
    )
  }
  t.deepEqual(transcriptions(patient), [])
  patient.sendAudio(speech.slice(4 * piece))
  t.true(Number((await patient.frame(({ type }) => type === 'transcription'))['end']) > 2)
  for (const sender of [patient, eager]) sender.terminate()
})

test.serial(
  'with vad only detected speech is transcribed, and without it all audio [D17]',
  async (t) => {
    const client = await service.user('faint')
    const faint = first.samples.map((sample) => Math.round(sample / 400))
    const transcribe = async (config: Json): Promise<TestSocket> =>
      speak(client, await client.createLive({ config }), {}, [faint, silence(1.5)])
    const [detected, all] = [await transcribe({}), await transcribe({ vad: false })]
    t.deepEqual(transcriptions(detected), [])
    t.regex(words(finals(all)), /welcome to the meeting/i)
  },
)

test.serial('punctuation=false removes all punctuation [R158]', async (t) => {
  const client = await service.user('plain')
  const speech = [first.samples, silence(2)]
  const withMarks = await speak(client, await client.createLive(), {}, speech)
  const without = await speak(client, await client.createLive({ config: { punctuation: false } }), {}, speech)
  t.regex(words(finals(withMarks)), /[.,?!;:]/, 'the text has punctuation')
  t.notRegex(words(transcriptions(without)), /[.,?!;:]/)
  t.is(words(finals(without)), words(finals(withMarks)).replaceAll(/[.,?!;:]/g, ''))
})

test.serial('audio sent before a sender left is still transcribed, then the session ends [R100 D55]', async (t) => {
  const client = await service.user('gone')
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

test.serial('the finish route transcribes the received audio before it answers [R85 R144]', async (t) => {
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

test.serial(
  'with COMPAT_STRICT a transcription has exactly the five members [R153]',
  async (t) => {
    const strict = await startTestService(t, { COMPAT_STRICT: '1' })
    const client = await strict.user('strict')
    const live = await client.createLive()
    const sender = await speak(client, live, {}, [first.samples, silence(2)])
    t.true(transcriptions(sender).length > 0)
    for (const frame of transcriptions(sender))
      t.deepEqual(Object.keys(frame), ['type', 'start', 'end', 'text', 'language'])
    t.deepEqual(sender.texts.slice(1, 3), ['{"status":"ASR process started"}', '{"status":"started"}'])
    t.is(sender.texts.at(-1), '{"status":"finished"}')
  },
)

test.serial('200 listeners of a session all get every frame in equal order [R133 R152]', async (t) => {
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
      ({ texts: heard }) => heard[1] === '{"status":"started"}' && heard.at(-1) === '{"status":"finished"}',
    ),
  )
})

test.serial(
  'after kill -9 at the end of a session, ?after and ?replay resend the identical bytes from the log [D58 A4]',
  async (t) => {
    const client = await service.user('returning')
    const live = await client.createLive()
    const { texts } = await speak(client, live, { max_chars: 14, max_lines: 2 }, [first.samples, silence(2)])
    const sentFinals = texts.filter((text) => text.includes('"final":true'))
    t.true(
      sentFinals.length > 1 && sentFinals.some((text) => text.includes('\\n')),
      'several finals, one with several lines',
    )
    await service.kill()
    await service.start()
    for (const [query, expected] of [
      ['after=1', sentFinals.slice(1)],
      ['replay=1', sentFinals.slice(-1)],
      ['after=0', sentFinals],
    ] as const) {
      const back = await openSocket(
        `${service.url().replace('http', 'ws')}${live.relative_path}?token=${live.listener_token}&${query}`,
      )
      t.deepEqual(await back.closed, { code: 4410, reason: 'session_finished' })
      t.deepEqual(back.texts.slice(1, -1), expected, query)
    }
  },
)
