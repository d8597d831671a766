import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Provider } from '../providers/execution-provider.ts'
import { findWeights } from '../model-weights.ts'
import { readWhisperJson } from './whisper-json.ts'
import { type WhisperModel, whisperModel } from './whisper-model.ts'

/** Reads a Whisper model without weights, with the best files for `provider`. Left: the problem. */
export const readWhisperDirectory = async (
  folder: string,
  provider: Provider = 'cpu',
): Promise<Either<string, WhisperModel>> => {
  const json = await readWhisperJson(folder)
  if (E.isLeft(json)) return json
  const weights = await findWeights(join(folder, 'onnx'), provider)
  return E.isLeft(weights) ? weights : whisperModel(json.right, weights.right)
}
