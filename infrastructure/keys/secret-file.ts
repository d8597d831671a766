import { createReadStream } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import * as E from 'fp-ts/lib/Either.js'
import { messageOf } from '../../domain/shared/message-of.ts'

/** More than any secret needs. The file may be a pipe or a device, whose size is unknown. */
const MAX_BYTES = 4096

const problemOf = (file: string, error: unknown): string => {
  switch (error instanceof Error && 'code' in error && error.code) {
    case 'ENOENT':
      return `there is no file ${file}`
    case 'EISDIR':
      return `${file} is a folder. Docker creates such a folder when the file of a volume is missing`
    default:
      return `${file} cannot be read (${messageOf(error)})`
  }
}

/** Reads a file with a secret of at most 4096 bytes. Left: the problem, worded to follow `NAME OF THE SETTING: `. */
export const readSecretFile = async (file: string): Promise<E.Either<string, Buffer>> => {
  try {
    const content = await buffer(createReadStream(file, { end: MAX_BYTES }))
    if (content.length === 0) return E.left(`${file} is empty`)
    return content.length > MAX_BYTES ? E.left(`${file} has more than ${MAX_BYTES} bytes`) : E.right(content)
  } catch (error) {
    return E.left(problemOf(file, error))
  }
}

/** Decodes a password without its byte order mark and the line ends after it. Left: the problem, to follow a noun. */
export const passwordIn = (content: Buffer): E.Either<string, string> => {
  try {
    return E.right(new TextDecoder('utf-8', { fatal: true }).decode(content).replace(/(?<![\r\n])[\r\n]+$/, ''))
  } catch {
    return E.left('is not text in UTF-8')
  }
}

/** Reads a file with a password. Left: the problem, worded to follow `NAME OF THE SETTING: `. */
export const readPasswordFile = async (file: string): Promise<E.Either<string, string>> => {
  const content = await readSecretFile(file)
  if (E.isLeft(content)) return content
  const password = passwordIn(content.right)
  return E.isLeft(password) ? E.left(`${file} ${password.left}`) : password
}
