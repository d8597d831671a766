import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { findWeights } from '../model-weights.ts'
import type { SpeechFamily } from '../speech-runner.ts'
import { readWhisperDirectory } from './whisper-directory.ts'
import { abilitiesOf } from './whisper-model.ts'
import { loadWhisper } from './whisper-runner.ts'

/** Whisper models in the layout of Hugging Face's ONNX exports. */
export const whisper: SpeechFamily = {
  kind: 'speech',
  name: 'whisper',
  fits: ({ modelType }) => modelType === 'whisper',
  jsonFiles: [
    'config.json', 'generation_config.json', 'preprocessor_config.json', 'tokenizer.json', 'tokenizer_config.json',
  ],
  findWeights: (folder, provider) => findWeights(join(folder, 'onnx'), provider),
  read: async (folder, provider) => {
    const model = await readWhisperDirectory(folder, provider)
    if (E.isLeft(model)) return model
    const { right } = model
    const load = () => loadWhisper(right, undefined, provider)
    return E.right({ abilities: abilitiesOf(right), weights: right.weights, load })
  },
}
