import { randomBytes } from 'node:crypto'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type {
  KeyErased,
  KeyMissing,
  Keyring,
  KeyringUnavailable,
  SealedMember,
  Unopened,
} from '../../application/ports/keyring.ts'
import { orThrow } from '../../domain/shared/or-throw.ts'
import { IV_BYTES, decrypt, encrypt, openText, sealText } from './envelope.ts'
import { deriveKey } from './master-key.ts'

const KEY_BYTES = 32
const MAX_CACHED = 10_000
const MAX_FOREIGN = 1000

/** Name of a key that nothing is sealed with: it tells whether the master key is the one of this keyring. */
const PROBE = 'keyring-probe'

/** A key as it is stored, wrapped by the master key; null for an erased one. */
export type StoredKey = Uint8Array | null

/** Where wrapped keys lie. Left: why the store did not do it, or may not have. */
export interface KeyStorage {
  /** Keeps `wrapped` unless the key exists or was erased; answers, once it is durable, what is stored. */
  readonly ensure: (name: string, wrapped: Uint8Array) => Promise<Either<string, StoredKey>>
  /** Without those that were never made. */
  readonly find: (names: ReadonlyArray<string>) => Promise<Either<string, ReadonlyMap<string, StoredKey>>>
  readonly erase: (names: ReadonlyArray<string>) => Promise<Either<string, void>>
  readonly close: () => Promise<void>
}

/** A storage that makes and erases no key, for those who only read. */
export const readOnlyStorage = ({ find, close }: Pick<KeyStorage, 'find' | 'close'>): KeyStorage => {
  const refused = E.left('this keyring is open for reading only')
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
    keepOnly: (names: ReadonlySet<string>): void => {
      for (const name of keys.keys()) if (!names.has(name)) keys.delete(name)
    },
  }
}

/** A keyring whose keys other processes erase too: what it remembers of them must follow. */
export interface SharedKeyring extends Keyring {
  /** These were erased. */
  readonly forget: (names: ReadonlyArray<string>) => void
  /** Nothing is known of the others: they are asked for again. */
  readonly keepOnly: (names: ReadonlyArray<string>) => void
}

const unavailable = (reason: string): KeyringUnavailable => ({ _tag: 'KeyringUnavailable', reason })

/**
 * The keyring on a storage of wrapped keys. Rejects, and closes the storage, when that cannot be reached or the master
 * key is not the one that its keys are wrapped by.
 */
export const openKeyring = async (storage: KeyStorage, masterKey: Uint8Array): Promise<SharedKeyring> => {
  const wrappingKey = deriveKey(masterKey, 'keyring')
  const wrap = (name: string, key: Uint8Array): Buffer => {
    const { iv, sealed } = encrypt(wrappingKey, name, key)
    return Buffer.concat([iv, sealed])
  }
  // A copy: a small Buffer is a slice of a pool, all of which would stay in memory for as long as the key does.
  const unwrap = (name: string, wrapped: Uint8Array): Uint8Array =>
    Uint8Array.from(decrypt(wrappingKey, name, wrapped.subarray(0, IV_BYTES), wrapped.subarray(IV_BYTES)))

  /** None for what the master key does not unwrap: such a row is as good as none. */
  const unwrapped = (name: string, wrapped: Uint8Array): Uint8Array | undefined => {
    try {
      return unwrap(name, wrapped)
    } catch {
      return undefined
    }
  }

  const cache = keyCache()
  /** Something is sealed with these, and they are not here. */
  const missing = new Set<string>()
  /** Streams that hold envelopes which are none of theirs. */
  const foreign = new Set<string>()
  let erasures = 0
  /** Remembers what was asked for at `asked`, unless an erasure has come in between: the answer may be older than that. */
  const remember = (name: string, key: Uint8Array, asked: number): void => {
    missing.delete(name)
    if (asked === erasures) cache.set(name, key)
  }

  /** The keys of these names that are here, from memory where they are there; null for erased ones. */
  const keysOf = async (names: ReadonlySet<string>): Promise<Either<string, ReadonlyMap<string, StoredKey>>> => {
    const keys = new Map<string, StoredKey>()
    for (const name of names) {
      const known = cache.get(name)
      if (known !== undefined) keys.set(name, known)
    }
    const others = [...names].filter((name) => !keys.has(name))
    if (others.length === 0) return E.right(keys)
    const asked = erasures
    const stored = await storage.find(others)
    if (E.isLeft(stored)) return stored
    for (const [name, wrapped] of stored.right) {
      const key = wrapped && unwrapped(name, wrapped)
      if (key === undefined) continue
      keys.set(name, key)
      if (key !== null) remember(name, key, asked)
    }
    return E.right(keys)
  }

  const getOrCreate = async (
    name: string,
  ): Promise<Either<KeyringUnavailable | KeyErased | KeyMissing, Uint8Array>> => {
    const known = cache.get(name)
    if (known !== undefined) return E.right(known)
    if (missing.has(name)) {
      // It may be back by now; while it is not, no other may be made under its name.
      const found = await keysOf(new Set([name]))
      if (E.isLeft(found)) return E.left(unavailable(found.left))
      if (!found.right.has(name)) return E.left({ _tag: 'KeyMissing', key: name })
    }
    const asked = erasures
    const stored = await storage.ensure(name, wrap(name, randomBytes(KEY_BYTES)))
    if (E.isLeft(stored)) return E.left(unavailable(stored.left))
    if (stored.right === null) return E.left({ _tag: 'KeyErased', key: name })
    const key = unwrapped(name, stored.right)
    if (key === undefined) return E.left({ _tag: 'KeyMissing', key: name })
    remember(name, key, asked)
    return E.right(key)
  }

  const seal: Keyring['seal'] = (name, members) => async () =>
    E.map((key: Uint8Array) => members.map((place) => sealText(key, name, place, place.text)))(
      await getOrCreate(name),
    )

  const openOne = (member: SealedMember, key: StoredKey | undefined): Either<Unopened, string> => {
    const { envelope, key: name, stream, members } = member
    const { k, m } = envelope
    const isForeign = (): Unopened => {
      if (foreign.size < MAX_FOREIGN) foreign.add(stream)
      return { _tag: 'EnvelopeForeign', key: name }
    }
    if (k !== name || (m !== undefined && !members.includes(m))) return E.left(isForeign())
    if (key === null) return E.left({ _tag: 'KeyErased', key: name })
    if (key === undefined) {
      missing.add(name)
      return E.left({ _tag: 'KeyMissing', key: name })
    }
    return E.tryCatch(() => openText(key, envelope, stream), isForeign)
  }

  const open: Keyring['open'] = (sealed) => async () => {
    const keys = await keysOf(new Set(sealed.map(({ key }) => key)))
    if (E.isLeft(keys)) return E.left(unavailable(keys.left))
    return E.right(sealed.map((member) => openOne(member, keys.right.get(member.key))))
  }

  const forget: SharedKeyring['forget'] = (names) => {
    erasures += 1
    for (const name of names) cache.drop(name)
  }

  const keepOnly: SharedKeyring['keepOnly'] = (names) => {
    erasures += 1
    cache.keepOnly(new Set(names))
  }

  const erase: Keyring['erase'] = (names) => async () => {
    const erased = await storage.erase(names)
    forget(names)
    if (E.isRight(erased)) for (const name of names) missing.delete(name)
    return E.isLeft(erased) ? E.left(unavailable(erased.left)) : E.right(undefined)
  }

  const checkMasterKey = (probe: Uint8Array): void => {
    try {
      unwrap(PROBE, probe)
    } catch (cause) {
      throw new Error('the keyring cannot be opened with this master key', { cause })
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
  return { seal, open, erase, forget, keepOnly, missing: () => [...missing], foreign: () => [...foreign], close: storage.close }
}
