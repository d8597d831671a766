import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { boundedInteger } from '../../domain/shared/codecs.ts'

/** A size of a model. Real sizes are far smaller, and memory is reserved by them before a graph is opened. */
export const positive = boundedInteger(1, 1_000_000)
/** A number of parts of a model: layers, heads or frequency bands. */
export const few = boundedInteger(1, 1000)
export const token = boundedInteger(0, 10_000_000)

/** Tokens by text, or texts in the order of their tokens with their scores (Unigram). */
const vocabulary = t.union([t.record(t.string, token), t.readonlyArray(t.tuple([t.string, t.number]))])

/** The part of tokenizer.json that we check. The tokenizer itself reads the rest. */
export const tokenizerJson = t.type({
  added_tokens: t.readonlyArray(t.type({ id: token, content: t.string })),
  model: t.type({ vocab: vocabulary }),
})
export const tokenizerConfigJson = t.UnknownRecord

/** The largest tokenizers of real models have about 35 MB. */
const MAX_JSON_MIB = 64

/** Reads a text of bounded size. A pipe or a device in place of a file would never end. Left: the problem. */
const readText = async (folder: string, file: string): Promise<Either<string, string>> => {
  const path = join(folder, file)
  try {
    const found = await stat(path)
    if (!found.isFile()) return E.left(`${file} is not a file`)
    if (found.size > MAX_JSON_MIB * 2 ** 20) return E.left(`${file} is larger than ${MAX_JSON_MIB} MiB`)
    return E.right(await readFile(path, 'utf8'))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return E.left(code === 'ENOENT' ? `${file} is missing` : `${file} cannot be read (${code ?? message})`)
  }
}

/** Reads and decodes a JSON file. Left: a sentence that names the file and the wrong member. */
export const readJson = async <A>(
  folder: string,
  file: string,
  codec: t.Decoder<unknown, A>,
): Promise<Either<string, A>> => {
  const content = await readText(folder, file)
  if (E.isLeft(content)) return content
  const json = E.tryCatch(
    (): unknown => JSON.parse(content.right),
    () => `${file} is not JSON`,
  )
  if (E.isLeft(json)) return json
  const decoded = codec.decode(json.right)
  if (E.isRight(decoded)) return decoded
  const context = decoded.left.at(-1)?.context ?? []
  const path = context.map(({ key }) => key).filter((key) => key !== '' && !/^\d+$/.test(key))
  return E.left(
    `${file}: ${path.join('.') || 'the content'} is missing or is not ${context.at(-1)?.type.name ?? 'valid'}`,
  )
}

/** Reads the files of a tokenizer. Left: the problem with the first bad file. */
export const readTokenizer = async (folder: string) => {
  const tokenizer = await readJson(folder, 'tokenizer.json', tokenizerJson)
  if (E.isLeft(tokenizer)) return tokenizer
  const tokenizerConfig = await readJson(folder, 'tokenizer_config.json', tokenizerConfigJson)
  if (E.isLeft(tokenizerConfig)) return tokenizerConfig
  return E.right({ tokenizer: tokenizer.right, tokenizerConfig: tokenizerConfig.right })
}
