import { Binary, MongoServerError } from 'mongodb'
import type { Keyring } from '../../application/ports/keyring.ts'
import { openKeyring } from '../keyring.ts'
import type { KeyStorage, StoredKey } from '../keyring.ts'
import { outcomeOf } from './connection.ts'
import type { MongoConnection } from './connection.ts'
import { checkUpserted, DUPLICATE_KEY } from './guarded-writes.ts'

/** One document a key, for good: an erased one loses `wrapped` and keeps its place. */
interface KeyDocument {
  readonly _id: string
  readonly wrapped?: Binary
  readonly erasedAt?: Date
}

const MAX_ATTEMPTS = 5
/** Keys asked for, or erased, at once. */
const BATCH = 500

const storedIn = ({ _id, wrapped, erasedAt }: KeyDocument): StoredKey => {
  if (erasedAt !== undefined) return null
  if (!(wrapped instanceof Binary)) throw new Error(`the document of key ${_id} holds no key`)
  return wrapped.value()
}

/** Two who make the same document at once: one of them is told that it exists, and finds it then. */
const despiteRaces = async <A>(upsert: () => Promise<A>): Promise<A> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await upsert()
    } catch (error) {
      const lost = error instanceof MongoServerError && error.code === DUPLICATE_KEY
      if (!lost || attempt === MAX_ATTEMPTS) throw error
    }
  }
}

/**
 * The keyring in MongoDB; rejects when it cannot be reached or the master key is not the one that its keys are wrapped by.
 * Making a key is one write of a majority, also where it finds one that is there: what a seal uses is never rolled back.
 * The connection is its opener's to close.
 */
export const openMongoKeyring = async (
  { keyring: database, limitMs }: Pick<MongoConnection, 'keyring' | 'limitMs'>,
  masterKey: Uint8Array,
): Promise<Keyring> => {
  const keys = database.collection<KeyDocument>('keys')

  const ensure = async (name: string, wrapped: Uint8Array): Promise<StoredKey> => {
    const made = { $setOnInsert: { wrapped: new Binary(wrapped) } }
    const stored = await despiteRaces(() => keys.findOneAndUpdate({ _id: name }, made, { upsert: true, returnDocument: 'after' }))
    if (stored === null) throw new Error(`the server made no document of key ${name}`)
    return storedIn(stored)
  }

  const find = async (names: ReadonlyArray<string>): Promise<ReadonlyMap<string, StoredKey>> => {
    const found = new Map<string, StoredKey>()
    for (let from = 0; from < names.length; from += BATCH) {
      const documents = await keys.find({ _id: { $in: names.slice(from, from + BATCH) } }).toArray()
      for (const document of documents) found.set(document._id, storedIn(document))
    }
    return found
  }

  const eraseOne = async (name: string): Promise<void> => {
    const erased = { $unset: { wrapped: true }, $min: { erasedAt: new Date() } } as const
    checkUpserted(await despiteRaces(() => keys.updateOne({ _id: name }, erased, { upsert: true })))
  }

  const storage: KeyStorage = {
    ensure: (name, wrapped) => outcomeOf(limitMs, () => ensure(name, wrapped)),
    find: (names) => outcomeOf(limitMs, () => find(names)),
    erase: (names) =>
      outcomeOf(limitMs, async () => {
        for (let from = 0; from < names.length; from += BATCH) await Promise.all(names.slice(from, from + BATCH).map(eraseOne))
      }),
    close: () => Promise.resolve(),
  }
  return await openKeyring(storage, masterKey)
}
