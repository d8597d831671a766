import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { boundedInteger } from '../../domain/shared/codecs.ts'

export const positive = boundedInteger(1, 1_000_000_000)
export const token = boundedInteger(0, 10_000_000)

/** The part of tokenizer.json with the special tokens. The tokenizer itself reads the rest. */
export const tokenizerJson = t.type({
  added_tokens: t.readonlyArray(t.type({ id: token, content: t.string })),
  model: t.UnknownRecord,
})
export const tokenizerConfigJson = t.UnknownRecord

/** Reads and decodes a JSON file. Left: a sentence that names the file and the wrong member. */
export const readJson = async <A>(
  folder: string,
  file: string,
  codec: t.Decoder<unknown, A>,
): Promise<Either<string, A>> => {
  const content = await readFile(join(folder, file), 'utf8').then(E.right, (error: NodeJS.ErrnoException) =>
    E.left(error.code === 'ENOENT' ? `${file} is missing` : `${file} cannot be read (${error.code ?? error.message})`),
  )
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
