import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { Segment } from '../../../../../application/pipeline/pipeline.ts'
import { createSpokenLanguage } from '../../../../../application/pipeline/speech/spoken-language.ts'
import type { Hypothesis, TranscribeJob } from '../../../../../application/ports/engine.ts'
import { DEFAULT_ENGINE_SETTINGS as settings, type EngineSettings } from '../../../../../domain/live/settings.ts'
import { samplesOf, speechState } from '../../../../support/pipeline/attention-driver.ts'
import { collectEvents, pipelineOf, spokenWords } from '../../../../support/pipeline/pipeline-driver.ts'
import { scriptedAudio, type ScriptedWord } from '../../../../support/doubles/scripted/script.ts'
import { scriptedEngine } from '../../../../support/doubles/scripted/engine.ts'
import { eventLoopTurns } from '../../../../support/pipeline/pipeline-stream.ts'

const createDetection = () => createSpokenLanguage('auto')
const span = (from: number, to: number) => ({ from: samplesOf(from), to: samplesOf(to) })

test('a given language is never detected and appears in no segment', (t) => {
  const fixed = createSpokenLanguage('haw')
  t.deepEqual([fixed.code(), fixed.nextQuery(speechState(5, [[0]]), 0, null)], ['haw', null])
})

test('the language is detected after 1, 2, 4 … s of speech, until the model is sure', (t) => {
  const language = createDetection()
  t.is(language.nextQuery(speechState(1.5, [[0, 0.4], [1]]), 0, null), null, '0.9 s of speech')
  t.deepEqual(language.nextQuery(speechState(1.6, [[0, 0.4], [1]]), 0, null), span(0, 1.6))
  t.false(language.applyAnswer({ code: 'de', probability: 0.4 }))
  t.is(language.code(), null, 'a doubtful answer is ignored while more audio may follow')
  t.is(language.nextQuery(speechState(2.5, [[0, 0.4], [1]]), 0, null), null)
  t.deepEqual(language.nextQuery(speechState(2.6, [[0, 0.4], [1]]), 0, null), span(0, 2.6))
  t.false(language.applyAnswer({ code: 'de', probability: 0.4 }), 'no text exists yet')
  t.is(language.code(), 'de')
  t.deepEqual(language.nextQuery(speechState(4.6, [[0, 0.4], [1]]), 0, null), span(0, 4.6))
  t.true(language.applyAnswer({ code: 'nl', probability: 0.9 }), 'the existing text is German')
  t.is(language.nextQuery(speechState(20, [[0]]), 0, null), null)
})

test('a sure result for the first second of speech is used, and a later sure result may replace it', (t) => {
  const language = createDetection()
  language.nextQuery(speechState(1.1, [[0]]), 0, null)
  language.applyAnswer({ code: 'pl', probability: 0.9 })
  t.is(language.code(), 'pl')
  t.deepEqual(language.nextQuery(speechState(2.2, [[0]]), 0, null), span(0, 2.2))
  t.true(language.applyAnswer({ code: 'fr', probability: 0.6 }))
  t.is(language.code(), 'fr')
})

test('the language of a short first phrase is detected when the phrase ends', (t) => {
  const language = createDetection()
  t.is(language.nextQuery(speechState(0.6, [[0.1, 0.5]]), 0, null), null)
  t.deepEqual(language.nextQuery(speechState(1.6, [[0.1, 0.5]], true), 0, null), span(0.1, 0.5))
  t.false(language.applyAnswer({ code: 'en', probability: 0.5 }))
  t.is(language.code(), 'en')
  t.is(language.nextQuery(speechState(1.6, [[0.1, 0.5]], true), 0, null), null)
})

/** A session whose language is surely English, at its second phrase. */
const startEnglish = () => {
  const language = createDetection()
  language.nextQuery(speechState(2.1, [[0]]), 0, null)
  language.applyAnswer({ code: 'en', probability: 0.9 })
  language.endPhrase(0)
  return language
}

test('a sure language changes only by a sure result over two seconds', (t) => {
  const language = startEnglish()
  t.is(language.nextQuery(speechState(6.9, [[5]]), 0, null), null)
  t.is(
    language.nextQuery(speechState(9, [[5, 6.9]], true), 0, null),
    null,
    'a shorter phrase keeps the previous language',
  )
  t.deepEqual(language.nextQuery(speechState(7, [[5]]), 0, null), span(5, 7))
  t.false(language.applyAnswer({ code: 'cy', probability: 0.7 }))
  t.is(language.code(), 'en')
  t.deepEqual(language.nextQuery(speechState(9, [[5]]), 0, null), span(5, 9))
  t.true(language.applyAnswer({ code: 'cy', probability: 0.85 }))
  t.is(language.code(), 'cy')
})

test('detection uses at most eight seconds of audio and then stops', (t) => {
  const language = createDetection()
  t.deepEqual(language.nextQuery(speechState(30, [[0]]), 0, null), span(0, 8))
  language.applyAnswer({ code: 'en', probability: 0.1 })
  t.is(language.nextQuery(speechState(90, [[0]]), 0, null), null)
})

/** Three sentences, the second in another language. */
const [first, second, third] = [
  spokenWords('it begins at noon and nobody is late'),
  spokenWords('es beginnt am mittag und niemand kommt zu spät', 2),
  spokenWords('bring your own cup and your own plate', 2),
]
const german = second.map((word) => ({ ...word, language: 'de' }))

/** The size of the audio chunks, and how the engine transcribes them. */
interface TranscriptionOptions {
  readonly config?: EngineSettings
  readonly hasWordTimes?: boolean
  readonly chunk?: number
  readonly transcribe?: (hypothesis: Hypothesis, job: TranscribeJob) => Hypothesis
}

const transcribeAuto = async (
  words: ReadonlyArray<ScriptedWord>,
  { config = settings, hasWordTimes = true, chunk = 1600, transcribe }: TranscriptionOptions,
) => {
  const engine = scriptedEngine({
    words,
    hasWordTimes,
    ...(transcribe && { transcribe: (hypothesis, job) => E.right(transcribe(hypothesis, job)) }),
  })
  const { finals, partials, failures, events } = collectEvents()
  const pipeline = pipelineOf(engine, events, { settings: config, language: 'auto' })
  await pipeline.start()
  const audio = scriptedAudio(words, 2)
  for (let at = 0; at < audio.length; at += chunk) {
    pipeline.push(audio.subarray(at, at + chunk))
    await eventLoopTurns(20)
  }
  await pipeline.finish(10_000)
  return { finals, partials, failures, jobs: engine.jobs }
}
const languageAndText = ({ language, text }: Segment): ReadonlyArray<string | undefined> => [language, text]

for (const hasWordTimes of [true, false])
  test(`each phrase is transcribed and labelled in its own language: word times ${hasWordTimes}`, async (t) => {
    const { finals, partials, failures, jobs } = await transcribeAuto([...first, ...german, ...third], { hasWordTimes })
    t.deepEqual(failures, [])
    t.deepEqual(finals.map(languageAndText), [
      ['en', 'it begins at noon and nobody is late'],
      ['de', 'es beginnt am mittag und niemand kommt zu spät'],
      ['en', 'bring your own cup and your own plate'],
    ])
    t.true(partials.every(({ language }) => language !== undefined))
    const transcribed = jobs.filter(({ language }) => language !== null)
    t.deepEqual(
      new Set(
        transcribed.filter(({ beginning }) => (beginning?.context.length ?? 0) > 0).map(({ language }) => language),
      ),
      new Set(),
      'no pass gets text in another language as context',
    )
    t.true(jobs.filter(({ language }) => language === null).length <= 2 * 3)
  })

test('several phrases that arrive at once are each transcribed in their own language', async (t) => {
  const { finals } = await transcribeAuto([...first, ...german, ...third], { chunk: 1_000_000 })
  t.deepEqual(finals.map(({ language }) => language), ['en', 'de', 'en'])
})

test('without a detector the language changes after a final', async (t) => {
  const config = { ...settings, vad: false }
  const { finals } = await transcribeAuto(
    [...first, ...german.map((word, i) => (i === 0 ? { ...word, pause: 4 } : word))],
    { config },
  )
  t.deepEqual(finals.map(languageAndText), [
    ['en', 'it begins at noon and nobody is late'],
    ['de', 'es beginnt am mittag und niemand kommt zu spät'],
  ])
})

for (const hasWordTimes of [true, false])
  test(`a phrase with a wrongly detected language is transcribed again: word times ${hasWordTimes}`, async (t) => {
    const words = spokenWords('es beginnt am mittag und es endet am abend spät nach einem langen tag').map((word) => ({
      ...word,
      language: 'de',
    }))
    const asWelsh = (hypothesis: Hypothesis, { language }: TranscribeJob): Hypothesis => {
      if (language === null)
        return {
          ...hypothesis,
          language:
            (hypothesis.language?.probability ?? 0) > 0 && requests++ < 2
              ? { code: 'cy', probability: 0.5 }
              : { code: 'de', probability: 0.9 },
        }
      const wrong = (text: string): string => (language === 'cy' ? text.toUpperCase() : text)
      const wrongWords = hypothesis.words && {
        words: hypothesis.words.map((word) => ({ ...word, text: wrong(word.text) })),
      }
      return {
        ...hypothesis,
        ...wrongWords,
        segments: hypothesis.segments.map((segment) => ({ ...segment, text: wrong(segment.text) })),
      }
    }
    let requests = 0
    const { finals, partials } = await transcribeAuto(words, { hasWordTimes, transcribe: asWelsh })
    t.true(partials.some(({ text, language }) => language === 'cy' && /[A-Z]/.test(text)))
    t.deepEqual(finals.map(languageAndText), [
      ['de', 'es beginnt am mittag und es endet am abend spät nach einem langen tag'],
    ])
    t.is(finals[0]?.segment, 1)
  })

test('a session with a given language requests no detection and reports no language', async (t) => {
  const engine = scriptedEngine({ words: first })
  const { finals, events } = collectEvents()
  const pipeline = pipelineOf(engine, events, { language: 'en' })
  await pipeline.start()
  pipeline.push(scriptedAudio(first, 2))
  await pipeline.finish(10_000)
  t.true(engine.jobs.every(({ language, task }) => language === 'en' && task === undefined))
  t.deepEqual(finals.map((final) => 'language' in final), [false])
})

test('speech for translation is transcribed with the translation task', async (t) => {
  const engine = scriptedEngine({ words: german })
  const { finals, events } = collectEvents()
  const pipeline = pipelineOf(engine, events, { language: 'auto', task: 'translate' })
  await pipeline.start()
  pipeline.push(scriptedAudio(german, 2))
  await pipeline.finish(10_000)
  t.deepEqual(
    engine.jobs
      .filter(({ language }) => language !== null)
      .map(({ language, task }) => [language, task])
      .at(-1),
    ['de', 'translate'],
  )
  t.deepEqual(finals.map(({ language }) => language), ['de'])
})
