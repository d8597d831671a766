import { link, mkdir, open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { copyTinyFiles } from '../tiny-model.ts'
import { decoderOf, encoderOf, GRAPHS, weightsBytes, weightsFileOf, type WhisperShape } from './whisper-shape.ts'

/** A model of a certain shape with random 32-bit weights. */
export interface ShapedModel {
  readonly folder: string
  /** A copy whose encoder takes one window per run. */
  readonly singleFolder: string
  readonly remove: () => Promise<void>
}

/** Largest absolute value of the weights, close to those of trained models. */
const RANGE = 0.035
const CHUNK_FLOATS = 2 ** 22

/** Writes pseudo-random floats, the same at each call. */
const writeWeights = async (path: string, bytes: number): Promise<void> => {
  await using file = await open(path, 'w')
  let state = 1
  for (let left = bytes / 4; left > 0; left -= CHUNK_FLOATS) {
    const chunk = new Float32Array(Math.min(left, CHUNK_FLOATS))
    for (let i = 0; i < chunk.length; i += 1) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      chunk[i] = RANGE * (state / 2 ** 31 - 1)
    }
    await file.write(new Uint8Array(chunk.buffer))
  }
}

/**
 * Makes a model that decodes exactly `tokens` tokens per window. It has the tokenizer of whisper-tiny-random. Null when
 * that model is absent.
 */
export const makeShapedModel = async (shape: WhisperShape, tokens: number): Promise<ShapedModel | null> => {
  const changes = {
    config: {
      d_model: shape.width, decoder_layers: shape.layers, decoder_attention_heads: shape.heads,
      num_mel_bins: shape.melBins, vocab_size: shape.vocabulary,
    },
    preprocessor: { feature_size: shape.melBins },
  }
  const copies = await Promise.all([copyTinyFiles(tokens, changes), copyTinyFiles(tokens, changes)])
  const [joined, single] = copies
  if (joined === null || single === null) return null
  for (const { folder } of [joined, single]) await mkdir(join(folder, 'onnx'))
  const pathIn = (folder: string, file: string): string => join(folder, 'onnx', file)
  const [ofEncoder, ...ofDecoders] = GRAPHS.map(weightsFileOf)
  const weights = pathIn(joined.folder, ofEncoder ?? '')
  await writeWeights(weights, weightsBytes(shape))
  for (const file of ofDecoders) await link(weights, pathIn(joined.folder, file))
  await writeFile(pathIn(joined.folder, 'encoder_model.onnx'), encoderOf(shape, 'rows'))
  await writeFile(pathIn(single.folder, 'encoder_model.onnx'), encoderOf(shape, 1))
  await writeFile(pathIn(joined.folder, 'decoder_model.onnx'), decoderOf(shape, false))
  await writeFile(pathIn(joined.folder, 'decoder_with_past_model.onnx'), decoderOf(shape, true))
  for (const file of [...GRAPHS.map(weightsFileOf), 'decoder_model.onnx', 'decoder_with_past_model.onnx'])
    await link(pathIn(joined.folder, file), pathIn(single.folder, file))
  const remove = async (): Promise<void> => {
    await joined.remove()
    await single.remove()
  }
  return { folder: joined.folder, singleFolder: single.folder, remove }
}
