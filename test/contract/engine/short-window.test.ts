import { readFile } from 'node:fs/promises'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { fixedTo, hubShapedCopy } from '../../../bench/speech/hub-shaped.ts'
import { withShortWindows } from '../../../infrastructure/onnx/graphs/short-window.ts'
import type { SpeechRunner } from '../../../infrastructure/onnx/speech-runner.ts'
import { readWhisperDirectory } from '../../../infrastructure/onnx/whisper/whisper-directory.ts'
import { loadWhisper } from '../../../infrastructure/onnx/whisper/whisper-runner.ts'
import { readWav } from '../../support/audio/wav.ts'

const FOLDER = 'test/support/fixtures/engine/exact-whisper'
const encoder = await readFile(`${FOLDER}/onnx/encoder_model.onnx`)
const { max_source_positions: positions, num_mel_bins: bins } = JSON.parse(
  await readFile(`${FOLDER}/config.json`, 'utf8'),
) as {
  readonly max_source_positions: number
  readonly num_mel_bins: number
}

const encode = async (graph: Uint8Array, frames: number): Promise<Float32Array> => {
  const session = await InferenceSession.create(graph, { executionProviders: ['cpu'], logSeverityLevel: 4 })
  const features = Float32Array.from({ length: bins * frames }, (_, i) => Math.sin(i * i))
  const { last_hidden_state: encoded } = await session.run({
    input_features: new Tensor('float32', features, [1, bins, frames]),
  })
  return encoded?.data as Float32Array
}

test('an encoder that was changed from full windows to any window keeps its results', async (t) => {
  const fixed = fixedTo(encoder, positions)
  await t.throwsAsync(encode(fixed, positions))
  const short = withShortWindows(fixed, positions)
  if (short === null) return void t.fail('nothing was changed')
  for (const frames of [positions, 2 * positions])
    t.deepEqual(await encode(short, frames), await encode(encoder, frames))
})

test('encoders for any window and unknown encoders stay unchanged', async (t) => {
  t.is(withShortWindows(encoder, positions), null)
  t.is(withShortWindows(fixedTo(encoder, positions), positions + 1), null)
  t.is(withShortWindows(await readFile(`${FOLDER}/onnx/decoder_model.onnx`), positions), null)
})

test('drafts use short windows even if the model was exported for full windows', async (t) => {
  const copy = await hubShapedCopy(FOLDER)
  t.teardown(copy.remove)
  const load = async (folder: string): Promise<SpeechRunner> => {
    const model = await readWhisperDirectory(folder)
    if (E.isLeft(model)) throw new Error(model.left)
    return loadWhisper({ ...model.right, dynamicWindow: false })
  }
  const [any, fixed] = [await load(FOLDER), await load(copy.folder)]
  const job = { samples: readWav('test/support/fixtures/engine/simon.wav'), language: 'en' }
  const [draft, whole] = [await fixed.transcribe({ ...job, isDraft: true }), await fixed.transcribe(job)]
  t.deepEqual(draft, await any.transcribe({ ...job, isDraft: true }))
  t.deepEqual(whole, await any.transcribe(job))
  t.not(draft.avgLogprob, whole.avgLogprob)
})
