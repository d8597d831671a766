import type { Either } from 'fp-ts/lib/Either.js'
import { Binary } from 'mongodb'
import type { Keyring } from '../../application/ports/keyring.ts'
import { openKeyring, readOnlyStorage } from '../keys/keyring.ts'
import type { KeyStorage, SharedKeyring, StoredKey } from '../keys/keyring.ts'
import type { MongoConnection } from './connection.ts'
import type { KeyRow } from '../keys/verify-keys.ts'
import { checkUpserted, despiteRaces } from './guarded-writes.ts'
import { outcomeOf } from './outcome.ts'

/** One document a key, for good: an erased one loses `wrapped` and keeps its place. */
interface KeyDocument {
  readonly _id: string
  readonly wrapped?: Binary
  readonly erasedAt?: Date
  /** How often a process asked for it to seal with. */
  readonly asked?: number
}

type KeyringConnection = Pick<MongoConnection, 'keyring' | 'limitMs'>

/** Keys asked for, or erased, at once. */
const BATCH = 500

/** A document that holds no key reads as one that the master key does not unwrap. */
const storedIn = ({ wrapped, erasedAt }: KeyDocument): StoredKey => {
  if (erasedAt !== undefined) return null
  return wrapped instanceof Binary ? wrapped.value() : new Uint8Array()
}

const keysIn = (database: MongoConnection['keyring']) => database.collection<KeyDocument>('keys')

const findIn =
  ({ keyring, limitMs }: KeyringConnection): KeyStorage['find'] =>
  (names) =>
    outcomeOf(limitMs, async ({ maxTimeMS, check }) => {
      const found = new Map<string, StoredKey>()
      for (let from = 0; from < names.length; from += BATCH) {
        check()
        const asked = { _id: { $in: names.slice(from, from + BATCH) } }
        const documents = await keysIn(keyring).find(asked, { maxTimeMS }).toArray()
        for (const document of documents) found.set(document._id, storedIn(document))
      }
      return found
    })

const stayOpen = (): Promise<void> => Promise.resolve()

/** The keyring for those who only read it. The connection is its opener's to close. */
export const openMongoKeyringReader = async (connection: KeyringConnection, masterKey: Uint8Array): Promise<Keyring> =>
  await openKeyring(readOnlyStorage({ find: findIn(connection), close: stayOpen }), masterKey)

/**
 * The keyring in MongoDB; rejects when it cannot be reached or the master key is not the one that its keys are wrapped by.
 * Making a key is one write of a majority, also where it finds one that is there: what a seal uses is never rolled back.
 * It always changes something: a write that changes nothing is acknowledged by a primary that was deposed and does not
 * know it, of a key that others have erased.
 * The connection is its opener's to close.
 */
export const openMongoKeyring = async (connection: KeyringConnection, masterKey: Uint8Array): Promise<SharedKeyring> => {
  const { limitMs } = connection
  const keys = keysIn(connection.keyring)

  const ensure = async (name: string, wrapped: Uint8Array): Promise<StoredKey> => {
    const made = { $setOnInsert: { wrapped: new Binary(wrapped) }, $inc: { asked: 1 } }
    const stored = await despiteRaces(() => keys.findOneAndUpdate({ _id: name }, made, { upsert: true, returnDocument: 'after' }))
    if (stored === null) throw new Error(`the server made no document of key ${name}`)
    return storedIn(stored)
  }

  // By the clock of the server, which the other processes ask by too, and anew with each repetition: what is answered was
  // dated just before, also where an earlier request was made long before a majority had it.
  const eraseOne = async (name: string): Promise<void> => {
    const erased = { $unset: { wrapped: true, asked: true }, $currentDate: { erasedAt: true } } as const
    checkUpserted(await despiteRaces(() => keys.updateOne({ _id: name }, erased, { upsert: true })))
  }

  const storage: KeyStorage = {
    ensure: (name, wrapped) => outcomeOf(limitMs, () => ensure(name, wrapped)),
    find: findIn(connection),
    erase: (names) =>
      outcomeOf(limitMs, async ({ check }) => {
        for (let from = 0; from < names.length; from += BATCH) {
          check()
          await Promise.all(names.slice(from, from + BATCH).map(eraseOne))
        }
      }),
    close: stayOpen,
  }
  return await openKeyring(storage, masterKey)
}

/** All keys, by their names, for whoever checks them; rejects when the server does not answer. */
export async function* mongoKeyRows({ keyring }: Pick<MongoConnection, 'keyring'>): AsyncGenerator<KeyRow> {
  for await (const { _id, wrapped, erasedAt } of keysIn(keyring).find({}, { sort: { _id: 1 } })) {
    if (erasedAt !== undefined && wrapped === undefined) continue
    yield { name: _id, wrapped: wrapped instanceof Binary ? wrapped.value() : null, isErased: erasedAt !== undefined }
  }
}

/** Names of the keys that were erased; rejects when the server does not answer. */
export const erasedMongoKeys = async (connection: Pick<MongoConnection, 'keyring'>): Promise<ReadonlyArray<string>> => {
  const isErased: Readonly<Record<string, unknown>> = { erasedAt: { $ne: null } }
  const erased = await keysIn(connection.keyring).find(isErased, { projection: { _id: 1 } }).toArray()
  return erased.map(({ _id }) => _id)
}

/** How far back it is asked what was erased: a majority has it long before. */
const WINDOW_MS = 60_000

/** That it was asked what was erased, and when by the clock of the server. */
interface Poll {
  readonly _id: string
  readonly at: Date
  readonly count: number
}

/**
 * Answers the names of the keys that were erased in the last minute, and since it was answered before. All by the clock
 * of the server, whatever this machine's says; where a new primary's is behind, by the earlier one of both. A primary that
 * was deposed and does not know it answers nothing: it is asked to write first, which it cannot acknowledge.
 */
export const erasedLately = (
  { keyring, maintainedKeyring, limitMs }: KeyringConnection & Pick<MongoConnection, 'maintainedKeyring'>,
): (() => Promise<Either<string, ReadonlyArray<string>>>) => {
  let answered: number | null = null
  let indexing: Promise<unknown> | null = null
  /** Over a million keys it takes longer than an answer may: until then there is none. */
  const indexed = async (): Promise<void> => {
    indexing ??= keysIn(maintainedKeyring).createIndex({ erasedAt: 1 }, { name: 'by_erasedAt' })
    try {
      await indexing
    } catch (error) {
      indexing = null
      throw error
    }
  }
  return () =>
    outcomeOf(limitMs, async ({ maxTimeMS, check }) => {
      await indexed()
      check()
      const polled = await despiteRaces(() => keyring.collection<Poll>('polls').findOneAndUpdate(
        { _id: 'erasures' }, { $currentDate: { at: true }, $inc: { count: 1 } }, { upsert: true, returnDocument: 'after' },
      ))
      if (polled === null) throw new Error('the server made no document of this poll')
      const now = polled.at.getTime()
      const since = new Date(Math.min(answered ?? now, now) - WINDOW_MS)
      const erased = await keysIn(keyring).find({ erasedAt: { $gt: since } }, { projection: { _id: 1 }, maxTimeMS }).toArray()
      answered = now
      return erased.map(({ _id }) => _id)
    })
}
