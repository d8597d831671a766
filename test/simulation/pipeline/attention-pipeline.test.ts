import test from 'ava'
import { DEFAULT_ENGINE_SETTINGS as settings, type EngineSettings } from '../../../domain/live/settings.ts'
import { limitsOf } from '../../../application/pipeline/policy/policy-limits.ts'
import { collectEvents, pipelineOf, spokenWords } from '../../support/pipeline/pipeline-driver.ts'
import { scriptedAudio, type ScriptedWord } from '../../support/doubles/scripted/script.ts'
import { scriptedEngine } from '../../support/doubles/scripted/engine.ts'
import { streamAudio, eventLoopTurns } from '../../support/pipeline/pipeline-stream.ts'

const pace = { chunk: 1600, ticks: 5, latency: 1, windowSeconds: 30, hasWordTimes: true }
const textOf = (words: ReadonlyArray<ScriptedWord>): string => words.map(({ text }) => text).join(' ')
const numberedWords = (count: number, pause: number): ReadonlyArray<ScriptedWord> =>
  spokenWords(Array.from({ length: count }, (_, i) => `w${i}`).join(' ')).map((word, i) => ({
    ...word,
    pause: i === 0 ? 0.5 : pause,
  }))

test('silence gives no frame and no pass', async (t) => {
  const { frames, passes } = await streamAudio({
    ...pace,
    words: [],
    audio: new Int16Array(60 * 16000),
    settings,
    chunk: 16000,
  })
  t.deepEqual([frames, passes], [[], 0])
})

test('without a detector silence costs no more passes than speech', async (t) => {
  for (const hasWordTimes of [true, false]) {
    const { passes } = await streamAudio({
      ...pace,
      hasWordTimes,
      words: [],
      audio: new Int16Array(60 * 16000),
      settings: { ...settings, vad: false },
    })
    t.true(passes <= 60, `${passes} passes`)
  }
})

test('drafts are at least two pass times apart, for any client setting', async (t) => {
  const words = numberedWords(60, 0.02)
  const audio = scriptedAudio(words, 2)
  const seconds = audio.length / 16000
  const passesAt = async (passSeconds: number | undefined, changes: Partial<EngineSettings>): Promise<number> => {
    const engine = scriptedEngine({ words, hasWordTimes: true, ...(passSeconds === undefined ? {} : { passSeconds }) })
    const options = { ...pace, words, audio, engine, settings: { ...settings, ...changes } }
    const { finals } = await streamAudio(options)
    t.is(finals.map(({ text }) => text).join(' '), textOf(words))
    return engine.jobs.filter(({ isDraft }) => isDraft === true).length
  }
  t.true((await passesAt(undefined, {})) > seconds / 2)
  t.true((await passesAt(1.5, {})) <= seconds / 3 + 2)
  t.true((await passesAt(0.5, { min_buffer: 0.1, max_delay: 0.5 })) <= seconds + 2)
  t.true((await passesAt(0.5, { min_buffer: 0.1, vad: false })) <= seconds + 2)
})

test('a phrase is final 0.5 s after buffer_timeout of silence, with and without detector', async (t) => {
  for (const vad of [true, false])
    for (const buffer_timeout of [0.5, 1, 2.5]) {
      const words = spokenWords('the meeting, if there is one, begins at noon.')
      const { finals } = await streamAudio({
        ...pace,
        ticks: 20,
        words,
        audio: scriptedAudio(words, 5),
        settings: { ...settings, vad, buffer_timeout, min_buffer: 0.5 },
      })
      const end = scriptedAudio(words).length / 16000
      t.deepEqual(finals.map(({ text }) => text), ['the meeting, if there is one, begins at noon.'])
      const delay = (finals[0]?.pushed ?? 0) / 16000 - end
      t.true(delay - buffer_timeout <= (vad ? 0.5 : 1.1), `vad ${vad}: ${delay} s`)
    }
})

test('max_buffer ends segments in running speech', async (t) => {
  const words = numberedWords(80, 0)
  const { finals } = await streamAudio({
    ...pace,
    words,
    audio: scriptedAudio(words),
    settings: { ...settings, max_buffer: 4, max_chars: 1000 },
  })
  t.true(finals.length >= 3)
  t.true(finals.slice(0, -1).every(({ start, pushed }) => pushed / 16000 - start <= 4 + 1.5), JSON.stringify(finals))
  t.is(textOf(finals.map(({ text }) => ({ text, pause: 0, seconds: 0 }))), textOf(words))
})

test('in mode final every word is final within max_delay', async (t) => {
  const words = numberedWords(60, 0.02)
  const config: EngineSettings = { ...settings, mode: 'final', max_delay: 3, max_buffer: 20 }
  const { finals } = await streamAudio({ ...pace, ticks: 20, words, audio: scriptedAudio(words, 2), settings: config })
  t.true(finals.length > 3)
  for (const { start, pushed, text } of finals) t.true(pushed / 16000 - start <= 3 + 0.5, text)
})

test('full captions become final immediately and respect max_chars and max_lines', async (t) => {
  const words = numberedWords(60, 0.02)
  const config: EngineSettings = { ...settings, max_chars: 12, max_lines: 2, max_buffer: 30 }
  const { frames, finals } = await streamAudio({ ...pace, words, audio: scriptedAudio(words, 2), settings: config })
  for (const { caption } of frames)
    t.true(caption.split('\n').length <= 2 && caption.split('\n').every((line) => line.length <= 12), caption)
  t.true(finals.length >= 10 && (finals[0]?.pushed ?? Infinity) < 6 * 16000)
  t.is(finals.map(({ text }) => text).join(' '), textOf(words))
})

test('with punctuation false no frame contains punctuation', async (t) => {
  const words = spokenWords('Well, it is 3.5 metres. Or not? Yes!')
  const { frames } = await streamAudio({
    ...pace,
    words,
    audio: scriptedAudio(words, 2),
    settings: { ...settings, punctuation: false },
  })
  t.is(frames.at(-1)?.text, 'Well it is 3.5 metres Or not Yes')
  t.true(frames.every(({ text }) => !/[,?!]|\.$/.test(text)))
})

test('without a detector an unchanged phrase is final even if its full pass differs from the drafts', async (t) => {
  const words = [...spokenWords('it begins at noon.'), ...spokenWords('bring your own cup.', 6)]
  const { finals } = await streamAudio({
    ...pace,
    words,
    audio: scriptedAudio(words, 4),
    settings: { ...settings, vad: false },
  })
  t.deepEqual(finals.map(({ text }) => text), ['it begins at noon.', 'bring your own cup.'])
  t.true((finals[0]?.pushed ?? Infinity) / 16000 < 5)
})

test('a last phrase that arrives together with the end of its session is transcribed', async (t) => {
  const words = [...spokenWords('it begins at noon'), ...spokenWords('bring a cup', 1.6)]
  const audio = scriptedAudio(words, 0.2)
  const silenceAt = Math.round(scriptedAudio(words.slice(0, 4)).length + 1.4 * 16000)
  const engine = scriptedEngine({ words, hasWordTimes: true })
  const { finals, events } = collectEvents()
  const pipeline = pipelineOf(engine, events, { settings: { ...settings, vad: false } })
  await pipeline.start()
  for (let at = 0; at < silenceAt; at += 1600) {
    pipeline.push(audio.subarray(at, Math.min(silenceAt, at + 1600)))
    await eventLoopTurns(5)
  }
  pipeline.push(audio.subarray(silenceAt))
  await pipeline.finish(10_000)
  t.is(finals.map(({ text }) => text).join(' '), textOf(words))
})

test('half a minute of backlog takes at most four passes, and each phrase becomes a segment', async (t) => {
  const phrases = Array.from({ length: 12 }, (_, i) => spokenWords(`this is phrase number ${i}`, i === 0 ? 0.5 : 1.2))
  const words = phrases.flat()
  const audio = scriptedAudio(words, 1.5)
  t.true(audio.length > 30 * 16000, `${audio.length / 16000} s`)
  const engineReady = Promise.withResolvers<void>()
  const engine = scriptedEngine({ words, hasWordTimes: true, delay: () => engineReady.promise })
  const { finals, events } = collectEvents()
  const pipeline = pipelineOf(engine, events, { settings })
  await pipeline.start()
  pipeline.push(audio)
  engineReady.resolve()
  await pipeline.finish(10_000)
  t.deepEqual(finals.map(({ text }) => text), phrases.map(textOf))
  t.true(engine.jobs.length <= 4, `${engine.jobs.length} passes`)
  t.true(engine.jobs.every(({ samples }) => samples.length <= limitsOf(settings, 30).buffer.longestWithContext))
})

test('an hour of speech at full speed is transcribed in few passes and bounded jobs', async (t) => {
  const sentence = spokenWords('this is sentence number', 0.8)
  const words = Array.from({ length: 1200 }, (_, i) => [
    ...sentence,
    { text: `${i}.`, pause: 0.05, seconds: 0.4 },
  ]).flat()
  const audio = scriptedAudio(words, 1)
  const engine = scriptedEngine({ words, windowSeconds: 30, hasWordTimes: true })
  const { finals, failures, events } = collectEvents()
  const pipeline = pipelineOf(engine, events)
  await pipeline.start()
  for (let at = 0; at < audio.length; at += 160_000) {
    pipeline.push(audio.subarray(at, at + 160_000))
    while (pipeline.backlogSeconds() > 20) await eventLoopTurns(1)
  }
  await pipeline.finish(600_000)
  t.deepEqual(failures, [])
  t.is(
    finals
      .map(({ text }) => text)
      .join(' ')
      .replaceAll('.', ''),
    textOf(words).replaceAll('.', ''),
  )
  t.true(engine.jobs.every(({ samples }) => samples.length <= 15 * 16000))
  t.true(engine.jobs.length <= 2 * 1200, `${engine.jobs.length} passes`)
})
