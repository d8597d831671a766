import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** The bytes of every file below a directory, by name. */
export const contentsOf = async (directory: string): Promise<ReadonlyMap<string, Buffer>> => {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return new Map(await Promise.all(files.map(async (file) => [file.slice(directory.length + 1), await readFile(file)] as const)))
}

/** What a text looks like wherever it stands in a longer one that is encoded: at each of the three places within a triple of bytes. */
const withinBase64 = (text: string, encoding: 'base64' | 'base64url'): ReadonlyArray<string> =>
  [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)])
    const whole = bytes.subarray(0, bytes.length - (bytes.length % 3)).toString(encoding)
    // The first characters hold bits of what stood before.
    return whole.slice(before === 0 ? 0 : before + 1)
  })

const percentEncoded = (text: string): string => Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')

/** A secret in every form in which it could stand somewhere by mistake. */
export const formsOf = (secret: string): Readonly<Record<string, ReadonlyArray<string>>> => {
  const hex = Buffer.from(secret).toString('hex')
  const forUrls = [encodeURIComponent(secret), new URLSearchParams([['', secret]]).toString().slice(1), percentEncoded(secret), percentEncoded(secret).toLowerCase()]
  return {
    'in clear': [secret, JSON.stringify(secret).slice(1, -1)],
    'in base64': withinBase64(secret, 'base64'),
    'in base64url': withinBase64(secret, 'base64url'),
    'in hex': [hex, hex.toUpperCase()],
    'URL-encoded': forUrls.filter((text) => text !== secret),
    'in UTF-16': [Buffer.from(secret, 'utf16le').toString('latin1')],
  }
}

/** Looks for secrets, by what they are, in all their forms; answers `what form` of each that is there. */
export const createSearch = (secrets: Readonly<Record<string, string>>): ((bytes: Buffer) => ReadonlyArray<string>) => {
  const needles = Object.entries(secrets).flatMap(([what, secret]) =>
    Object.entries(formsOf(secret)).flatMap(([form, texts]) =>
      [...new Set(texts)].map((text) => [`${what} ${form}`, Buffer.from(text, form === 'in UTF-16' ? 'latin1' : 'utf8')] as const),
    ),
  )
  return (bytes) => [...new Set(needles.filter(([, needle]) => bytes.includes(needle)).map(([what]) => what))]
}
