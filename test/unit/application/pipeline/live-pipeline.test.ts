import test from 'ava'
import { createLivePipeline } from '../../../../application/pipeline/live-pipeline.ts'
import { createScheduler } from '../../../../application/pipeline/scheduler.ts'
import { DEFAULT_ENGINE_SETTINGS as settings, type EngineSettings } from '../../../../domain/live/settings.ts'
import { collectEvents, heldTimers, pipelineOf, spokenWords } from '../../../support/pipeline/pipeline-driver.ts'
import { scriptedAudio } from '../../../support/doubles/scripted/script.ts'
import { scriptedEngine } from '../../../support/doubles/scripted/engine.ts'
import { streamAudio, eventLoopTurns } from '../../../support/pipeline/pipeline-stream.ts'

const pace = { chunk: 1600, ticks: 2, latency: 1, windowSeconds: 30 }

test('silence produces no frame', async (t) => {
  const { frames, passes } = await streamAudio({
    ...pace,
    words: [],
    audio: new Int16Array(60 * 16000),
    settings,
    chunk: 16000,
  })
  t.deepEqual(frames, [])
  t.is(passes, 0)
})

test('a phrase is final within half a second after buffer_timeout of silence', async (t) => {
  for (const buffer_timeout of [0.3, 1, 2.5]) {
    const words = spokenWords('the meeting begins at noon')
    const { finals } = await streamAudio({
      ...pace,
      ticks: 20,
      words,
      audio: scriptedAudio(words, 5),
      settings: { ...settings, buffer_timeout },
    })
    const end = words.reduce((sum, { pause, seconds }) => sum + pause + seconds, 0)
    t.is(finals.length, 1)
    const delay = (finals[0]?.pushed ?? 0) / 16000 - end
    t.true(Math.abs(delay - buffer_timeout) <= 0.5, `${delay} s`)
  }
})

test('max_buffer forces finals without any silence', async (t) => {
  const words = spokenWords(Array.from({ length: 80 }, (_, i) => `w${i}`).join(' ')).map((word) => ({
    ...word,
    pause: 0,
  }))
  const { finals } = await streamAudio({
    ...pace,
    words,
    audio: scriptedAudio(words),
    settings: { ...settings, max_buffer: 4, max_chars: 1000 },
  })
  t.true(finals.length >= 3)
  t.true(finals.every(({ start, end }) => end - start <= 5))
  t.is(finals.map(({ text }) => text).join(' '), words.map(({ text }) => text).join(' '))
})

test('in mode final every word is final within max_delay', async (t) => {
  const words = spokenWords(Array.from({ length: 60 }, (_, i) => `w${i}`).join(' ')).map((word) => ({
    ...word,
    pause: 0.02,
  }))
  const config: EngineSettings = { ...settings, mode: 'final', max_delay: 3, max_buffer: 20 }
  const { finals } = await streamAudio({ ...pace, ticks: 20, words, audio: scriptedAudio(words, 2), settings: config })
  for (const { start, pushed, text } of finals) t.true(pushed / 16000 - start <= 3 + 0.5, text)
})

test('frames respect max_chars and max_lines and together contain every word', async (t) => {
  const words = spokenWords('incomprehensibilities are what a caption of twelve letters has to break somewhere')
  const config: EngineSettings = { ...settings, max_chars: 12, max_lines: 2 }
  const { frames, finals } = await streamAudio({ ...pace, words, audio: scriptedAudio(words, 2), settings: config })
  for (const { caption } of frames)
    t.true(caption.split('\n').length <= 2 && caption.split('\n').every((line) => line.length <= 12), caption)
  t.is(finals.map(({ text }) => text.replaceAll(' ', '')).join(''), words.map(({ text }) => text).join(''))
})

test('with punctuation off the frames have no punctuation marks', async (t) => {
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

test('partials grow, are never repeated, and the last frame of a segment is its final', async (t) => {
  const words = [...spokenWords('one two three four five six seven eight'), ...spokenWords('nine ten eleven twelve', 2)]
  const { frames } = await streamAudio({ ...pace, ticks: 20, words, audio: scriptedAudio(words, 2), settings })
  const texts = frames.map(({ segment, final, text }) => `${segment} ${final} ${text}`)
  t.is(new Set(texts).size, texts.length)
  t.true(frames.filter(({ final }) => !final).length >= 4)
  t.deepEqual(
    frames.filter(({ final }) => final).map(({ text }) => text),
    ['one two three four five six seven eight', 'nine ten eleven twelve'],
  )
})

test('two sessions on one engine do not mix', async (t) => {
  const scripts = [
    spokenWords('alpha beta gamma delta epsilon zeta'),
    spokenWords('un deux trois quatre cinq six sept', 0.2),
  ]
  const words = scripts.flat()
  const engine = scriptedEngine({ words, delay: () => eventLoopTurns(3) })
  const scheduler = createScheduler(engine, () => performance.now())
  const create = createLivePipeline({ engine, scheduler, monotonic: () => performance.now(), timers: heldTimers() })
  const audio = scriptedAudio(words, 3)
  const firstLength = scriptedAudio(scripts[0] ?? []).length
  const halves = [audio.slice(0, firstLength), audio.slice(firstLength)]
  const texts = await Promise.all(
    halves.map(async (samples, i) => {
      const { finals, events } = collectEvents()
      const pipeline = create({ liveId: i, model: 'scripted', language: 'en', settings, nextSegment: 1, events })
      await pipeline.start()
      for (let at = 0; at < samples.length; at += 1600) {
        pipeline.push(samples.subarray(at, at + 1600))
        await eventLoopTurns(2)
      }
      await pipeline.finish(10_000)
      return finals.map(({ text }) => text).join(' ')
    }),
  )
  t.deepEqual(texts, scripts.map((script) => script.map(({ text }) => text).join(' ')))
})

test('half a minute of backlog takes at most four passes and continues after its last pause', async (t) => {
  const words = Array.from({ length: 13 }, (_, i) => spokenWords(`this is sentence number ${i}`, 0.5)).flat()
  const audio = scriptedAudio(words, 1.5)
  t.true(audio.length > 30 * 16000, `${audio.length / 16000} s`)
  const answer = Promise.withResolvers<void>()
  const engine = scriptedEngine({ words, delay: () => answer.promise })
  const { finals, events } = collectEvents()
  const pipeline = pipelineOf(engine, events)
  await pipeline.start()
  pipeline.push(audio)
  answer.resolve()
  await pipeline.finish(10_000)
  t.is(finals.map(({ text }) => text).join(' '), words.map(({ text }) => text).join(' '))
  t.true(engine.jobs.length <= 4, `${engine.jobs.length} passes`)
})

test('passes during speech are drafts, passes at a pause and at the end are not', async (t) => {
  const words = [
    ...spokenWords('this is the first sentence of two'),
    ...spokenWords('and this is the second of them', 1.2),
  ]
  const audio = scriptedAudio(words, 1.5)
  const draftsWith = async (changes: Partial<EngineSettings>): Promise<ReadonlyArray<boolean>> => {
    const engine = scriptedEngine({ words })
    const { finals } = await streamAudio({ ...pace, words, audio, engine, settings: { ...settings, ...changes } })
    t.is(finals.length > 0, true)
    return engine.jobs.map(({ isDraft }) => isDraft === true)
  }
  const drafts = await draftsWith({})
  t.true(drafts.includes(true))
  t.is(drafts.filter((isDraft, i) => !isDraft && drafts[i - 1] === true).length, 2, drafts.join())
  t.false(drafts.at(-1))
  for (const changes of [{ vad: false }, { mode: 'final' }] as const)
    t.false((await draftsWith(changes)).includes(true))
})
