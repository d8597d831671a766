import { existsSync, readFileSync } from 'node:fs'
import * as E from 'fp-ts/lib/Either.js'
import {
  endOfAudio, foldSpeech, INITIAL_SEGMENTER, type SegmenterState,
} from '../../../../../application/pipeline/speech/speech-segmenter.ts'
import { SAMPLE_RATE, VAD_FRAME, type SpeechEngine, type VadState } from '../../../../../application/ports/engine.ts'
import { createSpeechEngine } from '../../../../../infrastructure/onnx/process/engine-client.ts'
import { createRecordingLogger } from '../../../../support/doubles/loggers.ts'
import { testWith } from '../../../../support/running/skip-unless.ts'
import { readWav } from '../../../../support/audio/wav.ts'

const folder = '../shared/speech'

interface Recording {
  readonly file: string
  readonly words?: ReadonlyArray<readonly [start: number, end: number, word: string]>
}

interface Stretch {
  readonly start: number
  readonly end: number
}

const regionsOf = async (engine: SpeechEngine, samples: Int16Array): Promise<ReadonlyArray<Stretch>> => {
  let state: SegmenterState = INITIAL_SEGMENTER
  let vad: VadState = null
  for (let at = 0; at + VAD_FRAME <= samples.length; at += 10 * VAD_FRAME) {
    const whole = Math.floor(Math.min(10 * VAD_FRAME, samples.length - at) / VAD_FRAME) * VAD_FRAME
    const judged = await engine.detectSpeech(samples.slice(at, at + whole), vad)
    if (E.isLeft(judged)) throw new Error(judged.left.reason)
    vad = judged.right.state
    state = foldSpeech(state, judged.right.probabilities, SAMPLE_RATE)
  }
  return endOfAudio(state, samples.length).phrases.flatMap(({ regions }) =>
    regions.map(({ start, end }) => ({ start: start / SAMPLE_RATE, end: (end ?? samples.length) / SAMPLE_RATE })),
  )
}

/** Words joined across gaps of less than half a second. */
const phrasesOf = (words: NonNullable<Recording['words']>): ReadonlyArray<Stretch> =>
  words.reduce<ReadonlyArray<Stretch>>((phrases, [start, end]) => {
    const last = phrases.at(-1)
    return last !== undefined && start - last.end < 0.5
      ? [...phrases.slice(0, -1), { start: last.start, end }]
      : [...phrases, { start, end }]
  }, [])

const overlaps = (a: Stretch, b: Stretch): boolean => a.start < b.end && b.start < a.end

testWith(folder)('speech regions cover the words of real recordings and stay close to their phrases', async (t) => {
  const manifest = JSON.parse(readFileSync(`${folder}/manifest.json`, 'utf8')) as ReadonlyArray<Recording>
  const logger = createRecordingLogger()
  const engine = createSpeechEngine({ models: new Map(), workers: 1, logger })
  t.teardown(() => engine.close())
  let [covered, total, lead, lag] = [0, 0, 0, 0]
  for (const { file, words } of manifest) {
    if (words === undefined || !existsSync(`${folder}/${file}`)) continue
    const regions = await regionsOf(engine, readWav(`${folder}/${file}`))
    total += words.length
    // Compares the middle of each word, because the reference lets the first word begin with the recording.
    const middles = words.map(([start, end]) => (start + end) / 2)
    covered += middles.filter((middle) => regions.some(({ start, end }) => start <= middle && middle <= end)).length
    for (const phrase of phrasesOf(words)) {
      const own = regions.filter((region) => overlaps(region, phrase))
      t.true(own.length > 0, `${file}: no region at ${phrase.start} s`)
      lead = Math.max(lead, phrase.start - (own[0]?.start ?? phrase.start))
      lag = Math.max(lag, (own.at(-1)?.end ?? phrase.end) - phrase.end)
      t.log(
        file,
        'phrase',
        phrase.start,
        phrase.end,
        'regions',
        own.map(({ start, end }) => `${start.toFixed(2)}–${end.toFixed(2)}`).join(' '),
      )
    }
  }
  t.log(
    `${covered} of ${total} words covered, ` +
      `starts at most ${lead.toFixed(2)} s early, ends at most ${lag.toFixed(2)} s late`,
  )
  t.true(covered >= 0.95 * total)
  t.true(lead <= 0.3)
  t.true(lag <= 0.5)
})
