import { readFileSync } from 'node:fs'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { readWhisperDirectory } from '../../../infrastructure/onnx/whisper/whisper-directory.ts'
import { loadWhisper } from '../../../infrastructure/onnx/whisper/whisper-runner.ts'
import { readAudioFile } from '../../../interfaces/cli/streaming/audio-file.ts'
import { wordErrorRate } from '../../../domain/transcript/word-alignment.ts'

/**
 * Forty clips of the evaluation of demo-en (tools/train/evaluate.py --clips): ten each of four of its sets. What the
 * model reaches on the whole sets (MODEL.md) and, because ten sentences are few words, as many points again as one
 * sentence in ten that is lost.
 */
const FOLDER = 'test/support/fixtures/engine/demo-clips'
const RATES = { known: 2.8, held: 4.2, festival: 18.4, hand: 9.1 } as const
const FEW_WORDS = 10

interface Clip {
  readonly file: string
  readonly set: keyof typeof RATES
  readonly text: string
}

const clips = JSON.parse(readFileSync(`${FOLDER}/clips.json`, 'utf8')) as ReadonlyArray<Clip>

const textsOf = async (set: string): Promise<{ readonly spoken: string; readonly heard: string }> => {
  const model = await readWhisperDirectory('models/demo-en')
  if (E.isLeft(model)) throw new Error(model.left)
  const runner = await loadWhisper({ ...model.right, timestamps: false })
  const heard: string[] = []
  const chosen = clips.filter((clip) => clip.set === set)
  for (const { file } of chosen) {
    const { segments } = await runner.transcribe({ samples: await readAudioFile(`${FOLDER}/${file}`), language: 'en' })
    heard.push(segments.map(({ text }) => text).join(''))
  }
  return { spoken: chosen.map(({ text }) => text).join(' '), heard: heard.join(' ') }
}

for (const [set, usual] of Object.entries(RATES))
  test(`demo-en hears ten clips of the set '${set}' as well as the whole set`, async (t) => {
    const { spoken, heard } = await textsOf(set)
    const rate = 100 * wordErrorRate(spoken, heard)
    t.log(`${set}: ${rate.toFixed(1)} %`)
    t.true(rate <= usual + FEW_WORDS, heard)
  })
