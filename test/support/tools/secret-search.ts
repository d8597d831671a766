import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Returns the bytes of every file below a directory, by relative path. */
export const contentsOf = async (directory: string): Promise<ReadonlyMap<string, Buffer>> => {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const contents = files.map(async (file) => [file.slice(directory.length + 1), await readFile(file)] as const)
  return new Map(await Promise.all(contents))
}

/** The base64 forms of a text inside a longer text: base64 encodes three bytes at a time, so there are three forms. */
const withinBase64 = (text: string, encoding: 'base64' | 'base64url'): ReadonlyArray<string> =>
  [0, 1, 2].map((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)])
    const encoded = bytes.subarray(0, bytes.length - (bytes.length % 3)).toString(encoding)
    // The first characters also contain bits of the bytes before the text.
    return encoded.slice(offset === 0 ? 0 : offset + 1)
  })

const percentEncoded = (text: string): string =>
  Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')

/** Returns a secret in every form in which it could leak, by the name of the form. */
export const formsOf = (secret: string): Readonly<Record<string, ReadonlyArray<string>>> => {
  const hex = Buffer.from(secret).toString('hex')
  const query = new URLSearchParams([['', secret]]).toString().slice(1)
  const percent = percentEncoded(secret)
  const forUrls = [encodeURIComponent(secret), query, percent, percent.toLowerCase()]
  return {
    'in clear': [secret, JSON.stringify(secret).slice(1, -1)],
    'in base64': withinBase64(secret, 'base64'),
    'in base64url': withinBase64(secret, 'base64url'),
    'in hex': [hex, hex.toUpperCase()],
    'URL-encoded': forUrls.filter((text) => text !== secret),
    'in UTF-16': [Buffer.from(secret, 'utf16le').toString('latin1')],
  }
}

/** Creates a search for secrets in all their forms. The search returns the names and forms of the secrets it finds. */
export const createSearch = (secrets: Readonly<Record<string, string>>): ((bytes: Buffer) => ReadonlyArray<string>) => {
  const needles = Object.entries(secrets).flatMap(([name, secret]) =>
    Object.entries(formsOf(secret)).flatMap(([form, texts]) => {
      const encoding = form === 'in UTF-16' ? 'latin1' : 'utf8'
      return [...new Set(texts)].map((text) => [`${name} ${form}`, Buffer.from(text, encoding)] as const)
    }),
  )
  return (bytes) => [...new Set(needles.filter(([, needle]) => bytes.includes(needle)).map(([label]) => label))]
}
