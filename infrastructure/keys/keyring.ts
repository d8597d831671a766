import { randomBytes } from 'node:crypto'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { mapInSlices } from '../../application/concurrency.ts'
import { createLruCache } from '../../application/lru-cache.ts'
import type {
  KeyErased, KeyMissing, KeyedMemory, Keyring, KeyringUnavailable, SealedMember, Unopened,
} from '../../application/ports/keyring.ts'
import { orThrow } from '../../domain/shared/or-throw.ts'
import { IV_BYTES, decrypt, encrypt, openText, sealText } from './envelope.ts'
import { deriveKey } from './master-key.ts'

const KEY_BYTES = 32
const MAX_CACHED = 10_000
const MAX_FOREIGN = 1000

/** Name of a key that encrypts nothing. If the master key can unwrap it, the master key belongs to this keyring. */
export const PROBE = 'keyring-probe'

/** A key, wrapped (encrypted) with the master key; null: the key was erased. */
export type StoredKey = Uint8Array | null

/** A store of wrapped keys. Left: why the operation failed or its outcome is unknown. */
export interface KeyStorage {
  /** Stores `wrapped` unless the key exists or was erased. Returns the stored key once it is durable. */
  readonly ensure: (name: string, wrapped: Uint8Array) => Promise<Either<string, StoredKey>>
  /** Returns the existing and the erased keys; names of keys that were never created are absent. */
  readonly find: (names: ReadonlyArray<string>) => Promise<Either<string, ReadonlyMap<string, StoredKey>>>
  readonly erase: (names: ReadonlyArray<string>) => Promise<Either<string, void>>
  readonly close: () => Promise<void>
}

/** A storage that refuses to create or erase keys. */
export const readOnlyStorage = ({ find, close }: Pick<KeyStorage, 'find' | 'close'>): KeyStorage => {
  const refused = E.left('this keyring is read-only')
  return {
    ensure: async (name) => {
      const found = await find([name])
      if (E.isLeft(found)) return found
      const key = found.right.get(name)
      return key === undefined ? refused : E.right(key)
    },
    find,
    erase: async () => refused,
    close,
  }
}

/** A keyring whose keys other processes can erase, so its cache must follow them. */
export interface SharedKeyring extends Keyring, KeyedMemory {}

const unavailable = (reason: string): KeyringUnavailable => ({ _tag: 'KeyringUnavailable', reason })

/**
 * Opens the keyring of a storage. Rejects and closes the storage when it is unavailable or when another master key
 * wrapped its keys.
 */
export const openKeyring = async (storage: KeyStorage, masterKey: Uint8Array): Promise<SharedKeyring> => {
  const wrappingKey = deriveKey(masterKey, 'keyring')
  const wrap = (name: string, key: Uint8Array): Buffer => {
    const { iv, sealed } = encrypt(wrappingKey, name, key)
    return Buffer.concat([iv, sealed])
  }
  // Copies the key: a small Buffer is a slice of a shared pool and would keep the whole pool in memory.
  const unwrap = (name: string, wrapped: Uint8Array): Uint8Array =>
    Uint8Array.from(decrypt(wrappingKey, name, wrapped.subarray(0, IV_BYTES), wrapped.subarray(IV_BYTES)))

  /** Undefined: the master key cannot decrypt this key, so the key counts as missing. */
  const tryUnwrap = (name: string, wrapped: Uint8Array): Uint8Array | undefined => {
    try {
      return unwrap(name, wrapped)
    } catch {
      return undefined
    }
  }

  /**
   * The most recently used keys, unwrapped. The bytes of a dropped key are not overwritten: a concurrent encryption may
   * still use it, and must not encrypt with zeros.
   */
  const cache = createLruCache<string, Uint8Array>(MAX_CACHED)
  /** Keys that have encrypted stored text but are not in the storage. */
  const missing = new Set<string>()
  /** Streams with envelopes (encrypted values) that were made for another stream or member. */
  const foreign = new Set<string>()
  let erasures = 0
  /** Caches a key, unless an erasure happened after the query: the key may have been erased meanwhile. */
  const remember = (name: string, key: Uint8Array, erasuresAtQuery: number): void => {
    missing.delete(name)
    if (erasuresAtQuery === erasures) cache.set(name, key)
  }

  /** Returns the available keys from memory or storage; null: erased. Missing keys are absent. */
  const keysOf = async (names: ReadonlySet<string>): Promise<Either<string, ReadonlyMap<string, StoredKey>>> => {
    const keys = new Map<string, StoredKey>()
    for (const name of names) {
      const known = cache.get(name)
      if (known !== undefined) keys.set(name, known)
    }
    const uncached = [...names].filter((name) => !keys.has(name))
    if (uncached.length === 0) return E.right(keys)
    const erasuresAtQuery = erasures
    const stored = await storage.find(uncached)
    if (E.isLeft(stored)) return stored
    for (const [name, wrapped] of stored.right) {
      const key = wrapped && tryUnwrap(name, wrapped)
      if (key === undefined) continue
      keys.set(name, key)
      if (key !== null) remember(name, key, erasuresAtQuery)
    }
    return E.right(keys)
  }

  const getOrCreate = async (
    name: string,
  ): Promise<Either<KeyringUnavailable | KeyErased | KeyMissing, Uint8Array>> => {
    const known = cache.get(name)
    if (known !== undefined) return E.right(known)
    if (missing.has(name)) {
      // An operator may have restored the key. Until then no new key may take its name.
      const found = await keysOf(new Set([name]))
      if (E.isLeft(found)) return E.left(unavailable(found.left))
      if (!found.right.has(name)) return E.left({ _tag: 'KeyMissing', key: name })
    }
    const erasuresAtQuery = erasures
    const stored = await storage.ensure(name, wrap(name, randomBytes(KEY_BYTES)))
    if (E.isLeft(stored)) return E.left(unavailable(stored.left))
    if (stored.right === null) return E.left({ _tag: 'KeyErased', key: name })
    const key = tryUnwrap(name, stored.right)
    if (key === undefined) return E.left({ _tag: 'KeyMissing', key: name })
    remember(name, key, erasuresAtQuery)
    return E.right(key)
  }

  const seal: Keyring['seal'] = async (name, members) =>
    E.map((key: Uint8Array) => members.map((place) => sealText(key, name, place, place.text)))(
      await getOrCreate(name),
    )

  const openMember = (member: SealedMember, key: StoredKey | undefined): Either<Unopened, string> => {
    const { envelope, key: name, stream, members } = member
    const { k, m } = envelope
    const reportForeign = (): Unopened => {
      if (foreign.size < MAX_FOREIGN) foreign.add(stream)
      return { _tag: 'EnvelopeForeign', key: name }
    }
    if (k !== name || (m !== undefined && !members.includes(m))) return E.left(reportForeign())
    if (key === null) return E.left({ _tag: 'KeyErased', key: name })
    if (key === undefined) {
      missing.add(name)
      return E.left({ _tag: 'KeyMissing', key: name })
    }
    return E.tryCatch(() => openText(key, envelope, stream), reportForeign)
  }

  const open: Keyring['open'] = async (sealed) => {
    const keys = await keysOf(new Set(sealed.map(({ key }) => key)))
    if (E.isLeft(keys)) return E.left(unavailable(keys.left))
    return E.right(await mapInSlices(sealed, (member) => openMember(member, keys.right.get(member.key))))
  }

  const forget: SharedKeyring['forget'] = (names) => {
    erasures += 1
    for (const name of names) cache.delete(name)
  }

  const keepOnly: SharedKeyring['keepOnly'] = (names) => {
    erasures += 1
    const kept = new Set(names)
    for (const [name] of cache.entries()) if (!kept.has(name)) cache.delete(name)
  }

  const erase: Keyring['erase'] = async (names) => {
    const erased = await storage.erase(names)
    forget(names)
    if (E.isRight(erased)) for (const name of names) missing.delete(name)
    return E.isLeft(erased) ? E.left(unavailable(erased.left)) : E.right(undefined)
  }

  const checkMasterKey = (probe: Uint8Array): void => {
    try {
      unwrap(PROBE, probe)
    } catch (cause) {
      throw new Error('the keyring belongs to another master key: restore the master key of this data', { cause })
    }
  }
  try {
    const wrapped = wrap(PROBE, randomBytes(KEY_BYTES))
    const probe = orThrow(await storage.ensure(PROBE, wrapped), 'the keyring cannot be opened')
    if (probe !== null) checkMasterKey(probe)
  } catch (error) {
    await storage.close()
    throw error
  }
  return {
    seal, open, erase, forget, keepOnly,
    missing: () => [...missing],
    foreign: () => [...foreign],
    close: storage.close,
  }
}
