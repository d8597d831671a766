import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { judge } from '../../../application/pipeline/policy/hypothesis-filters.ts'
import { readWhisperDirectory } from '../../../infrastructure/onnx/whisper/whisper-directory.ts'
import { loadWhisper } from '../../../infrastructure/onnx/whisper/whisper-runner.ts'
import type { WhisperRunner } from '../../../infrastructure/onnx/whisper/whisper-pass.ts'
import type { WhisperModel } from '../../../infrastructure/onnx/whisper/whisper-model.ts'
import { sharedModel, testWith } from '../../support/running/skip-unless.ts'
import { readWav } from '../../support/audio/wav.ts'

const DEMO = 'models/demo-en'
const TINY = 'test/support/fixtures/engine/tiny-whisper'
const RANDOM = sharedModel('whisper-tiny-random')
const SIMON = 'Simon came easily in February.'
const SHEEP = 'Do not save the brave sheep.'

const simon = readWav('test/support/fixtures/engine/simon.wav')
const sheep = readWav('test/support/fixtures/engine/sheep.wav')

const runner = async (
  folder: string,
  change: (model: WhisperModel) => WhisperModel = (model) => model,
): Promise<WhisperRunner> => {
  const model = await readWhisperDirectory(folder)
  if (E.isLeft(model)) throw new Error(model.left)
  return loadWhisper(change(model.right))
}

test('demo-en transcribes synthetic speech, with times, on short and on full windows', async (t) => {
  for (const dynamicWindow of [true, false]) {
    const { transcribe, windowSeconds } = await runner(DEMO, (model) => ({ ...model, dynamicWindow }))
    t.is(windowSeconds, 10)
    const { segments, avgLogprob, noSpeechProb, compressionRatio } = await transcribe({
      samples: simon,
      language: 'en',
    })
    t.deepEqual(segments.map(({ text }) => text.trim()), [SIMON])
    const [segment] = segments
    t.true(segment !== undefined && segment.start < 0.3 && segment.end > 1.3 && segment.end <= simon.length / 16000)
    t.true(avgLogprob < 0 && avgLogprob > -0.5)
    t.true(noSpeechProb >= 0 && noSpeechProb < 0.5)
    t.true(compressionRatio > 0 && compressionRatio < 2)
  }
})

test('two sentences are two segments', async (t) => {
  const { transcribe } = await runner(DEMO)
  const both = new Int16Array(simon.length + 8000 + sheep.length)
  both.set(simon)
  both.set(sheep, simon.length + 8000)
  const { segments } = await transcribe({ samples: both, language: 'en' })
  t.deepEqual(segments.map(({ text }) => text.trim()), [SIMON, SHEEP])
  t.true((segments[1]?.start ?? 0) > simon.length / 16000)
})

test('without timestamps the text is one segment that spans the audio', async (t) => {
  const { transcribe } = await runner(DEMO, (model) => ({ ...model, timestamps: false }))
  const { segments } = await transcribe({ samples: sheep, language: 'en' })
  t.deepEqual(segments, [{ start: 0, end: sheep.length / 16000, text: ` ${SHEEP}` }])
})

test('a merged decoder equals two decoder files, and an endless text stops at the limit', async (t) => {
  const endless = (model: WhisperModel): WhisperModel => ({ ...model, suppressed: [model.endOfText] })
  const merged = { kind: 'merged', file: `${TINY}/onnx/decoder_model_merged.onnx` } as const
  for (const change of [(model: WhisperModel) => model, endless]) {
    const two = await runner(TINY, change)
    const one = await runner(TINY, (model) => ({ ...change(model), weights: { ...model.weights, decoder: merged } }))
    const texts: string[] = []
    for (const clip of [simon, sheep, new Int16Array(16000)]) {
      const hypothesis = await two.transcribe({ samples: clip, language: 'en' })
      t.deepEqual(await one.transcribe({ samples: clip, language: 'en' }), hypothesis)
      texts.push(hypothesis.segments.map(({ text }) => text).join(''))
    }
    t.true(new Set(texts).size > 1, 'the text depends on the audio')
    // The smallest limit is 50 tokens, and each token of this model is a letter or a timestamp.
    t.true(Math.max(...texts.map(({ length }) => length)) <= 50)
  }
})

testWith(RANDOM)(
  'a model that never ends the text stops at the limit for the length of the audio',
  async (t) => {
    const { transcribe, windowSeconds } = await runner(RANDOM)
    t.is(windowSeconds, 30)
    const { segments, compressionRatio, avgLogprob } = await transcribe({ samples: simon, language: 'jv' })
    t.true(segments.length > 0)
    t.true(Number.isFinite(avgLogprob) && compressionRatio > 0)
    await t.throwsAsync(transcribe({ samples: simon, language: 'jw' }), { message: /does not know the language jw/ })
  },
)

test('audio longer than the window is refused; a full window and empty audio are not', async (t) => {
  const { transcribe } = await runner(DEMO)
  await t.throwsAsync(transcribe({ samples: new Int16Array(160_001), language: 'en' }), {
    message: /more than the window/,
  })
  t.is((await transcribe({ samples: new Int16Array(160_000), language: 'en' })).segments.length, 0)
  t.is((await transcribe({ samples: new Int16Array(0), language: 'en' })).segments.length, 0)
})

test('demo-en returns no words for 60 windows of silence, noise and tones', async (t) => {
  const { transcribe } = await runner(DEMO)
  let seed = 1
  const random = (): number => {
    seed = (seed * 48271) % 2147483647
    return seed / 2147483647 - 0.5
  }
  const sounds: ReadonlyArray<(level: number, i: number) => number> = [
    (level) => 2 ** (level * 2) * random(),
    (level, i) => 2 ** (level * 2) * Math.sin((i * 440 * 2 * Math.PI) / 16000),
    (level, i) => (i % (1000 * (1 + level)) === 0 ? 20000 : 0),
    () => 0,
  ]
  const accepted: string[] = []
  for (let window = 0; window < 60; window++) {
    const sound = sounds[window % sounds.length]
    const level = Math.floor(window / 4) % 7
    const samples = Int16Array.from({ length: 16000 * (1 + (window % 5) * 2) }, (_, i) => sound?.(level, i) ?? 0)
    const hypothesis = await transcribe({ samples, language: 'en' })
    const { segments, noSpeechProb, avgLogprob } = hypothesis
    const text = segments.map((segment) => segment.text).join('')
    const scores = `no speech ${noSpeechProb.toFixed(2)}, logprob ${avgLogprob.toFixed(2)}`
    if (judge(hypothesis) === 'words') accepted.push(`window ${window}: ${text} (${scores})`)
  }
  t.deepEqual(accepted, [])
})
