import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { readJson } from './model-json.ts'
import { findWeights } from './model-weights.ts'
import type { Provider } from './providers/execution-provider.ts'
import type { SpeechFamily, SpeechModel, TranslatorFamily } from './speech-runner.ts'
import { whisper } from './whisper/whisper-family.ts'

const marian: TranslatorFamily = {
  kind: 'translation',
  name: 'marian',
  fits: ({ modelType }) => modelType === 'marian',
  jsonFiles: ['config.json', 'tokenizer.json', 'tokenizer_config.json'],
  findWeights: (folder, provider) => findWeights(join(folder, 'onnx'), provider),
}

/** The first family that fits a folder opens it. A new family gets a folder next to `whisper/` and an entry here. */
export const FAMILIES: ReadonlyArray<SpeechFamily | TranslatorFamily> = [whisper, marian]

const LIST_FORMAT = new Intl.ListFormat('en-GB')
const modelTypeJson = t.type({ model_type: t.string })

const filesIn = (folder: string): Promise<Either<string, ReadonlyArray<string>>> =>
  readdir(folder).then(E.right, ({ code, message }: NodeJS.ErrnoException) => {
    const isMissing = code === 'ENOENT' || code === 'ENOTDIR'
    return E.left(isMissing ? 'the folder is missing' : `the folder cannot be read (${code ?? message})`)
  })

/**
 * Returns the family of a folder's model, or a sentence that names the supported families.
 *
 * @param files names of the files that an incomplete folder will have
 */
export const familyOf = async (
  folder: string,
  files?: ReadonlyArray<string>,
): Promise<Either<string, SpeechFamily | TranslatorFamily>> => {
  const found = files === undefined ? await filesIn(folder) : E.right(files)
  if (E.isLeft(found)) return found
  const type = await readJson(folder, 'config.json', modelTypeJson)
  const modelType = E.isRight(type) ? type.right.model_type : null
  const family = FAMILIES.find(({ fits }) => fits({ modelType, files: found.right }))
  if (family !== undefined) return E.right(family)
  const problem = E.isLeft(type)
    ? type.left
    : `config.json says that it is a model of the type ${type.right.model_type}`
  return E.left(`${problem}: only ${LIST_FORMAT.format(FAMILIES.map(({ name }) => name))} models can be run`)
}

/** Reads a speech model of any family without weights, with the best files for `provider`. Left: the problem. */
export const readSpeechModel = async (
  folder: string,
  provider: Provider = 'cpu',
): Promise<Either<string, SpeechModel>> => {
  const family = await familyOf(folder)
  if (E.isLeft(family)) return family
  if (family.right.kind === 'translation') return E.left(`it holds a translator (${family.right.name})`)
  return family.right.read(folder, provider)
}
