import { readFileSync } from 'node:fs'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { readWhisperDirectory } from '../../../infrastructure/onnx/whisper/whisper-directory.ts'
import { loadWhisper } from '../../../infrastructure/onnx/whisper/whisper-runner.ts'
import { readAudioFile } from '../../../interfaces/cli/streaming/audio-file.ts'
import { wordErrorRate } from '../../../domain/transcript/word-alignment.ts'

/** Forty clips of the evaluation of demo-en (tools/train/evaluate.py --clips): ten clips from each of four sets. */
const FOLDER = 'test/support/fixtures/engine/demo-clips'
/** The word error rate of the model on each whole set, in percent (MODEL.md). */
const RATES = { known: 2.8, held: 4.2, festival: 18.4, hand: 9.1 } as const
/** Percentage points. Ten clips are a small sample: one lost sentence raises the rate by about this much. */
const TOLERANCE = 10

interface Clip {
  readonly file: string
  readonly set: keyof typeof RATES
  readonly text: string
}

const clips = JSON.parse(readFileSync(`${FOLDER}/clips.json`, 'utf8')) as ReadonlyArray<Clip>

const textsOf = async (set: string): Promise<{ readonly spoken: string; readonly transcribed: string }> => {
  const model = await readWhisperDirectory('models/demo-en')
  if (E.isLeft(model)) throw new Error(model.left)
  const runner = await loadWhisper({ ...model.right, timestamps: false })
  const texts: string[] = []
  const chosen = clips.filter((clip) => clip.set === set)
  for (const { file } of chosen) {
    const { segments } = await runner.transcribe({ samples: await readAudioFile(`${FOLDER}/${file}`), language: 'en' })
    texts.push(segments.map(({ text }) => text).join(''))
  }
  return { spoken: chosen.map(({ text }) => text).join(' '), transcribed: texts.join(' ') }
}

for (const [set, rateOfSet] of Object.entries(RATES))
  test(`demo-en transcribes ten clips of the set '${set}' about as well as the whole set`, async (t) => {
    const { spoken, transcribed } = await textsOf(set)
    const rate = 100 * wordErrorRate(spoken, transcribed)
    t.log(`${set}: ${rate.toFixed(1)} %`)
    t.true(rate <= rateOfSet + TOLERANCE, transcribed)
  })
