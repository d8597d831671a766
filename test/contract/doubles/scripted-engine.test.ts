import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { SAMPLE_RATE, VAD_FRAME, type TranscribeJob } from '../../../application/ports/engine.ts'
import { scriptedEngine } from '../../support/doubles/scripted/engine.ts'
import { SAMPLE_RATE as SCRIPT_RATE, scriptedAudio, type ScriptedWord } from '../../support/doubles/scripted/script.ts'
import { rightOf } from '../../support/tools/right.ts'

const WORDS: ReadonlyArray<ScriptedWord> = [
  { text: 'Ask', pause: 0.5, seconds: 0.5 },
  { text: 'not,', pause: 0.5, seconds: 0.5, misheard: 'knot' },
  { text: 'toi', pause: 0.5, seconds: 1, language: 'fr' },
]
const AUDIO = scriptedAudio(WORDS, 0.5)

const job = (seconds: number, members: Partial<TranscribeJob> = {}): TranscribeJob =>
  ({ model: 'scripted', language: 'en', samples: AUDIO.subarray(0, seconds * SAMPLE_RATE), ...members })

test('the script has the sample rate of the engine port', (t) => {
  t.is(SCRIPT_RATE, SAMPLE_RATE)
})

test('an engine without word times returns the words that are completely in the audio', async (t) => {
  const engine = scriptedEngine({ words: WORDS })
  const { segments } = await rightOf(engine.transcribe(job(2.2)))
  t.deepEqual(segments, [{ start: 0.5, end: 2, text: 'Ask not,' }])
  t.is(engine.jobs.length, 1)
})

test('an engine with word times continues after the prefix and returns a part of the last word', async (t) => {
  const engine = scriptedEngine({ words: WORDS, hasWordTimes: true })
  const beginning = { context: [], prefix: [] }
  const { words: first = [] } = await rightOf(engine.transcribe(job(1.75, { beginning })))
  t.deepEqual(first.map(({ text }) => text), [' Ask', ' no~'])
  const prefix = first.slice(0, 1).flatMap(({ tokens }) => tokens)
  const { words: second = [] } = await rightOf(engine.transcribe(job(2.2, { beginning: { context: [], prefix } })))
  t.deepEqual(second.map(({ text, start, end }) => [text, start, end]), [[' not,', 1.5, 2]])
})

test('a draft contains the misheard text with a low probability', async (t) => {
  const engine = scriptedEngine({ words: WORDS, hasWordTimes: true })
  const beginning = { context: [], prefix: [] }
  const { words = [] } = await rightOf(engine.transcribe(job(2.2, { beginning, isDraft: true })))
  t.deepEqual(words.map(({ text, probability }) => [text, probability]), [[' Ask', 0.9], [' knot', 0.1]])
})

test('a prefix that is not in the audio fails the job', async (t) => {
  const engine = scriptedEngine({ words: WORDS, hasWordTimes: true })
  const all = await rightOf(engine.transcribe(job(4, { beginning: { context: [], prefix: [] } })))
  const prefix = all.words?.at(-1)?.tokens ?? []
  const early = () => engine.transcribe(job(2.2, { beginning: { context: [], prefix } }))
  await t.throwsAsync(early(), { message: /does not sound in/ })
})

test('without a language the engine returns the language of most of the speech', async (t) => {
  const engine = scriptedEngine({ words: WORDS })
  t.like((await rightOf(engine.transcribe(job(2.2, { language: null })))).language, { code: 'en', probability: 1 })
  const late = { language: null, samples: AUDIO.subarray(2 * SAMPLE_RATE) }
  t.like((await rightOf(engine.transcribe(job(4, late)))).language, { code: 'fr', probability: 1 })
})

test('speech is detected in frames that contain more sound than silence', async (t) => {
  const engine = scriptedEngine({ words: WORDS })
  const frames = Math.floor((0.5 * SAMPLE_RATE) / VAD_FRAME)
  const start = 0.5 * SAMPLE_RATE - frames * VAD_FRAME
  const samples = AUDIO.subarray(start, start + 2 * frames * VAD_FRAME)
  const { probabilities, state } = await rightOf(engine.detectSpeech(samples, null))
  t.deepEqual([...probabilities].map((value) => value > 0.5), Array.from({ length: 2 * frames }, (_, i) => i >= frames))
  t.deepEqual(E.right(state), E.right(new Float32Array([2 * frames])))
})
