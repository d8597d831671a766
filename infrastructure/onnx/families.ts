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

/** The first that a folder fits opens it. A newcomer gets a folder beside `whisper/` and its place here. */
export const FAMILIES: ReadonlyArray<SpeechFamily | TranslatorFamily> = [whisper, marian]

const LISTED = new Intl.ListFormat('en-GB')
const typed = t.type({ model_type: t.string })

const filesIn = (folder: string): Promise<Either<string, ReadonlyArray<string>>> =>
  readdir(folder).then(E.right, ({ code, message }: NodeJS.ErrnoException) => {
    const isMissing = code === 'ENOENT' || code === 'ENOTDIR'
    return E.left(isMissing ? 'the folder is missing' : `the folder cannot be read (${code ?? message})`)
  })

/**
 * Which family a folder's model is of, or a sentence that names those that there are.
 *
 * @param files those that it will have, of a folder that is not whole yet
 */
export const familyOf = async (
  folder: string,
  files?: ReadonlyArray<string>,
): Promise<Either<string, SpeechFamily | TranslatorFamily>> => {
  const found = files === undefined ? await filesIn(folder) : E.right(files)
  if (E.isLeft(found)) return found
  const type = await readJson(folder, 'config.json', typed)
  const modelType = E.isRight(type) ? type.right.model_type : null
  const family = FAMILIES.find(({ fits }) => fits({ modelType, files: found.right }))
  if (family !== undefined) return E.right(family)
  const told = E.isLeft(type) ? type.left : `config.json says that it is a model of the type ${type.right.model_type}`
  return E.left(`${told}: only ${LISTED.format(FAMILIES.map(({ name }) => name))} models can be run`)
}

/** Reads a speech model of any family, with the files that `provider` runs best; loads no weights. Left: a sentence. */
export const readSpeechModel = async (
  folder: string,
  provider: Provider = 'cpu',
): Promise<Either<string, SpeechModel>> => {
  const family = await familyOf(folder)
  if (E.isLeft(family)) return family
  if (family.right.kind === 'translation') return E.left(`it holds a translator (${family.right.name})`)
  return family.right.read(folder, provider)
}
