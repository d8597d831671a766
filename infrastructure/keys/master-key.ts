import { hkdfSync, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { link, open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { sync } from '../files/sync.ts'
import { readSecretFile } from './secret-file.ts'

const KEY_BYTES = 32

/** Each purpose has its own derived key. A derived key reveals nothing about the other keys. */
export type KeyPurpose = 'keyring' | 'jwt' | 'hmac' | 'links'

/**
 * Derives 32 bytes with HKDF-SHA-256 (RFC 5869). No salt: the master key is already uniformly random. Each `epoch` has
 * another key; null: the first key of this purpose.
 */
export const deriveKey = (masterKey: Uint8Array, purpose: KeyPurpose, epoch: string | null = null): Buffer => {
  const info = epoch === null ? `stenolog ${purpose}` : `stenolog ${purpose} ${epoch}`
  return Buffer.from(hkdfSync('sha256', masterKey, '', info, KEY_BYTES))
}

const decode = (content: Buffer): Buffer | undefined => {
  if (content.byteLength === KEY_BYTES) return content
  // `trim` also removes a byte order mark.
  const text = content.toString('utf8').trim()
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex')
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : undefined
}

/**
 * Reads a key of 32 bytes: raw, as 64 hexadecimal digits or in base64. Otherwise throws an Error for the user, which
 * begins with `source`, the name of the setting.
 */
export const loadMasterKey = async (file: string, source = 'the master key'): Promise<Buffer> => {
  const content = await readSecretFile(file)
  if (E.isLeft(content)) throw new Error(`${source}: ${content.left}`)
  const key = decode(content.right)
  if (key !== undefined) return key
  throw new Error(`${source}: ${file} is not a master key. A master key has 32 bytes: raw, in hexadecimal or in base64`)
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code

/** Makes new file names survive a power cut. Windows cannot sync directories. */
const syncDirectory = async (path: string): Promise<void> => {
  if (process.platform !== 'win32') await sync(path)
}

/** Creates a random key in a file that only its owner can read. Keeps the key of another process that was faster. */
const createMasterKey = async (file: string): Promise<Buffer> => {
  const temporaryFile = `${file}.${randomBytes(6).toString('hex')}`
  const handle = await open(temporaryFile, 'wx', 0o600)
  try {
    await handle.writeFile(`${randomBytes(KEY_BYTES).toString('base64')}\n`)
    await handle.sync()
    await link(temporaryFile, file)
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  } finally {
    await handle.close()
    await rm(temporaryFile, { force: true })
  }
  await syncDirectory(dirname(file))
  return loadMasterKey(file)
}

/** Reads the key in `file`, or creates the file with a new key. For embedded stores only. */
export const loadOrCreateMasterKey = (file: string): Promise<Buffer> =>
  existsSync(file) ? loadMasterKey(file) : createMasterKey(file)
