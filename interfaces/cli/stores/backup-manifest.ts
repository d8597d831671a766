import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as t from 'io-ts'
import { decodeOrThrow } from '../../../domain/shared/codecs.ts'
import { sha256Of } from '../../../infrastructure/file-hash.ts'
import { DOCUMENTS_FILE, EVENTS_FILE, KEYRING_FILE } from '../../compose/stores.ts'

/** Raised whenever an older version could not restore what a newer one backs up. */
export const BACKUP_FORMAT = 1

export const MANIFEST_FILE = 'backup.json'
export const MASTER_KEY_FILE = 'master.key'

/** In the order in which they are copied: a read model never knows more than the log, and the log no key that is missing. */
export const BACKED_UP = [DOCUMENTS_FILE, EVENTS_FILE, KEYRING_FILE] as const

const manifest = t.strict({
  format: t.number,
  version: t.string,
  createdAt: t.string,
  /** Rows of the log. */
  rows: t.number,
  /** SHA-256 by name of file, in hexadecimal. */
  files: t.record(t.string, t.string),
})
export type Manifest = t.TypeOf<typeof manifest>

export const productVersion = async (): Promise<string> => {
  const file = join(import.meta.dirname, '..', '..', '..', 'package.json')
  return decodeOrThrow(t.type({ version: t.string }), JSON.parse(await readFile(file, 'utf8'))).version
}

const numbersOf = (version: string): ReadonlyArray<number> => version.split('.').map(Number)

const isNewer = (version: string, ours: string): boolean => {
  const [theirs, mine] = [numbersOf(version), numbersOf(ours)]
  const at = theirs.findIndex((number, index) => number !== (mine[index] ?? 0))
  return at >= 0 && (theirs[at] ?? 0) > (mine[at] ?? 0)
}

/** The manifest of a backup; throws an Error for people when it is none, is not complete, was changed, or is of a newer version. */
export const readManifest = async (directory: string): Promise<Manifest> => {
  const text = await readFile(join(directory, MANIFEST_FILE), 'utf8').catch(() => {
    throw new Error(`${directory} holds no complete backup: ${MANIFEST_FILE} is missing`)
  })
  const found = decodeOrThrow(manifest, JSON.parse(text))
  const ours = await productVersion()
  if (found.format > BACKUP_FORMAT || isNewer(found.version, ours))
    throw new Error(`the backup was made by version ${found.version}; this is ${ours}: restore it with that version or a later one`)
  for (const name of BACKED_UP) if (found.files[name] === undefined) throw new Error(`the backup is not complete: ${name} is missing`)
  for (const [name, digest] of Object.entries(found.files)) {
    const is = await sha256Of(join(directory, name)).catch(() => null)
    if (is === null) throw new Error(`the backup is not complete: ${name} is missing`)
    if (is !== digest) throw new Error(`the backup is damaged: ${name} is not what was written`)
  }
  return found
}
