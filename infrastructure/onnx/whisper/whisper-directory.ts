import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Provider } from '../providers/execution-provider.ts'
import { readModelJson, readModelType } from '../model-json.ts'
import { findWeights } from '../model-weights.ts'
import { whisperModel } from './whisper-model.ts'
import type { WhisperModel } from './whisper-model.ts'

/** `modelType` is that of config.json where it could be read: other models than Whisper may lie beside ours. */
export interface UnfitModel {
  readonly reason: string
  readonly modelType: string | null
}

const readWhisper = async (folder: string, provider: Provider): Promise<Either<string, WhisperModel>> => {
  const isThere = await stat(folder).then((stats) => stats.isDirectory(), () => false)
  if (!isThere) return E.left('the folder is missing')
  const json = await readModelJson(folder)
  if (E.isLeft(json)) return json
  const weights = await findWeights(join(folder, 'onnx'), provider)
  return E.isLeft(weights) ? weights : whisperModel(json.right, weights.right)
}

/** Reads the folder of a Whisper model in the layout of Hugging Face's ONNX exports, with the files that `provider` runs best; loads no weights. */
export const readModelDirectory = async (folder: string, provider: Provider = 'cpu'): Promise<Either<UnfitModel, WhisperModel>> => {
  const model = await readWhisper(folder, provider)
  return E.isRight(model) ? model : E.left({ reason: model.left, modelType: await readModelType(folder) })
}
