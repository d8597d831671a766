import { hkdfSync, randomBytes } from 'node:crypto'
import { link, open, readFile, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { sync } from '../files/sync.ts'

const KEY_BYTES = 32

/** What keys are derived for; each purpose has a key that tells nothing of the others. */
export type KeyPurpose = 'keyring' | 'jwt' | 'hmac' | 'links'

/** 32 bytes by HKDF-SHA-256 (RFC 5869), without salt: the master key is uniformly random. */
export const deriveKey = (masterKey: Uint8Array, purpose: KeyPurpose): Buffer =>
  Buffer.from(hkdfSync('sha256', masterKey, '', `stenolog ${purpose}`, KEY_BYTES))

const decode = (content: Buffer): Buffer | undefined => {
  if (content.byteLength === KEY_BYTES) return content
  const text = content.toString('latin1').trim()
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex')
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : undefined
}

/** The 32 bytes that a file holds raw, as 64 hexadecimal digits, or in base64; rejects on anything else. */
export const loadMasterKey = async (file: string): Promise<Buffer> => {
  const key = decode(await readFile(file))
  if (key === undefined) throw new Error(`${file} does not hold a master key: 32 bytes raw, in hexadecimal or in base64`)
  return key
}

const isCode = (error: unknown, code: string): boolean => error instanceof Error && 'code' in error && error.code === code

/** Makes the name of a new file survive a power cut; Windows has no such call. */
const syncDirectory = async (path: string): Promise<void> => {
  if (process.platform !== 'win32') await sync(path)
}

/** A new random key in `file`, readable by its owner alone, or the one that another process put there first. */
const createMasterKey = async (file: string): Promise<Buffer> => {
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  const handle = await open(draft, 'wx', 0o600)
  try {
    await handle.writeFile(`${randomBytes(KEY_BYTES).toString('base64')}\n`)
    await handle.sync()
    await link(draft, file)
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error
  } finally {
    await handle.close()
    await rm(draft, { force: true })
  }
  await syncDirectory(dirname(file))
  return loadMasterKey(file)
}

/** The key in `file`, made with it when there is no such file: for the embedded stores. */
export const loadOrCreateMasterKey = async (file: string): Promise<Buffer> => {
  try {
    return await loadMasterKey(file)
  } catch (error) {
    if (isCode(error, 'ENOENT')) return createMasterKey(file)
    throw error
  }
}
