import { randomBytes } from 'node:crypto'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Keyring, KeyringUnavailable } from '../../application/ports/keyring.ts'
import { deriveKey } from '../master-key.ts'
import { isSqliteError, openForReading } from './database.ts'
import { IV_BYTES, decrypt, encrypt, openText, sealText } from './envelope.ts'
import type { KeyringAnswer, KeyringJob } from './keyring-worker.ts'
import { openWriter } from './writer.ts'

const KEY_BYTES = 32
const MAX_CACHED = 10_000

/** Name of a key that nothing is sealed with: it tells whether the master key is the one of this keyring. */
const PROBE = 'keyring-probe'

/** The most recently used keys, unwrapped. */
const keyCache = () => {
  const keys = new Map<string, Uint8Array>()
  return {
    get: (name: string): Uint8Array | undefined => {
      const key = keys.get(name)
      if (key === undefined) return undefined
      keys.delete(name)
      keys.set(name, key)
      return key
    },
    set: (name: string, key: Uint8Array): void => {
      keys.set(name, key)
      const [oldest] = keys.keys()
      if (keys.size > MAX_CACHED && oldest !== undefined) keys.delete(oldest)
    },
    // Not overwritten: a seal that runs at this moment may still hold the key, and must not go on with zeros.
    drop: (name: string): boolean => keys.delete(name),
  }
}

const unavailable = (reason: string): KeyringUnavailable => ({ _tag: 'KeyringUnavailable', reason })

/**
 * The embedded keyring: one SQLite file of wrapped keys, written by one worker thread, read on the calling one.
 * Rejects when the master key is not the one that the file's keys are wrapped by.
 */
export const openSqliteKeyring = async ({ file, masterKey }: { readonly file: string; readonly masterKey: Uint8Array }): Promise<Keyring> => {
  const wrappingKey = deriveKey(masterKey, 'keyring')
  const wrap = (name: string, key: Uint8Array): Buffer => {
    const { iv, sealed } = encrypt(wrappingKey, name, key)
    return Buffer.concat([iv, sealed])
  }
  // A copy: a small Buffer is a slice of a pool, all of which would stay in memory for as long as the key does.
  const unwrap = (name: string, wrapped: Uint8Array): Uint8Array =>
    Uint8Array.from(decrypt(wrappingKey, name, wrapped.subarray(0, IV_BYTES), wrapped.subarray(IV_BYTES)))

  const writer = await openWriter<KeyringJob, KeyringAnswer>(new URL('./keyring-worker.ts', import.meta.url), { file })
  const database = openForReading(file)
  const select = database.prepare('SELECT wrapped FROM keys WHERE name = ?')
  const selectErased = database.prepare('SELECT 1 FROM erased WHERE name = ?')
  const cache = keyCache()

  const stored = (name: string): Uint8Array | undefined => {
    const row = select.get(name) as { readonly wrapped: Uint8Array } | undefined
    return row && unwrap(name, row.wrapped)
  }

  /** None for an erased key. */
  const getOrCreate = async (name: string): Promise<E.Either<string, O.Option<Uint8Array>>> => {
    const known = cache.get(name)
    if (known !== undefined) return E.right(O.some(known))
    const answer = await writer.submit({ kind: 'ensure', name, wrapped: wrap(name, randomBytes(KEY_BYTES)) })
    if (E.isLeft(answer)) return answer
    if (answer.right.wrapped === null) return E.right(O.none)
    const key = unwrap(name, answer.right.wrapped)
    cache.set(name, key)
    return E.right(O.some(key))
  }

  const seal: Keyring['seal'] = (name, texts) => async () => {
    const key = await getOrCreate(name)
    if (E.isLeft(key)) return E.left(unavailable(key.left))
    if (O.isNone(key.right)) return E.left({ _tag: 'KeyErased', key: name })
    const { value } = key.right
    return E.right(texts.map((text) => sealText(value, name, text)))
  }

  const open: Keyring['open'] = (envelopes) => async () => {
    try {
      return E.right(
        envelopes.map((envelope) => {
          const name = envelope.k
          const key = cache.get(name) ?? stored(name)
          if (key !== undefined) {
            cache.set(name, key)
            return O.some(openText(key, envelope))
          }
          if (selectErased.get(name) === undefined) throw new Error(`an envelope names key ${name}, which was never made here`)
          return O.none
        }),
      )
    } catch (error) {
      if (isSqliteError(error)) return E.left(unavailable(error.message))
      throw error
    }
  }

  const erase: Keyring['erase'] = (names) => async () => {
    const answer = await writer.submit({ kind: 'erase', names })
    for (const name of names) cache.drop(name)
    return E.isLeft(answer) ? E.left(unavailable(answer.left)) : E.right(undefined)
  }

  const close = async (): Promise<void> => {
    await writer.close()
    if (database.isOpen) database.close()
  }

  try {
    const probe = await getOrCreate(PROBE)
    if (E.isLeft(probe)) throw new Error(probe.left)
  } catch (cause) {
    await close()
    throw new Error('the keyring cannot be opened with this master key', { cause })
  }
  return { seal, open, erase, close }
}
