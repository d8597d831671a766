import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

export const ENCODER = 'onnx/encoder_model.onnx'
/** The files of a model that the engine needs. */
export const NEEDED = [
  'config.json',
  'tokenizer.json',
  'tokenizer_config.json',
  'generation_config.json',
  'preprocessor_config.json',
  ENCODER,
  'onnx/decoder_model.onnx',
  'onnx/decoder_with_past_model.onnx',
]
/** Returns each needed file of a model folder with its SHA-256. */
export const contentOf = (folder: string): Promise<ReadonlyArray<string>> =>
  Promise.all(
    NEEDED.map(
      async (path) =>
        `${path} ${createHash('sha256')
          .update(await readFile(join(folder, path)))
          .digest('hex')}`,
    ),
  )

/** Returns the sorted names in a folder. The list is empty for a missing folder. */
export const entries = (directory: string): Promise<ReadonlyArray<string>> =>
  readdir(directory).then((names) => names.sort(), () => [])
