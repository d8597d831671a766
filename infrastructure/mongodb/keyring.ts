import type { Either } from 'fp-ts/lib/Either.js'
import { Binary } from 'mongodb'
import type { Keyring } from '../../application/ports/keyring.ts'
import { type KeyStorage, openKeyring, readOnlyStorage, type SharedKeyring, type StoredKey } from '../keys/keyring.ts'
import type { MongoConnection } from './connection.ts'
import type { KeyRow } from '../keys/verify-keys.ts'
import { checkUpserted, retryUpsert } from './guarded-writes.ts'
import { outcomeOf } from './outcome.ts'

/** One permanent document for each key. Erasing removes only `wrapped`. */
interface KeyDocument {
  readonly _id: string
  readonly wrapped?: Binary
  readonly erasedAt?: Date
  /** Counts the requests for the key, so that each request changes the document. */
  readonly asked?: number
}

type KeyringConnection = Pick<MongoConnection, 'keyring' | 'limitMs'>

/** Number of keys that one request reads or erases. */
const BATCH = 500

/** A damaged document becomes an empty key, which the master key does not unwrap. */
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
        const wanted = { _id: { $in: names.slice(from, from + BATCH) } }
        const documents = await keysIn(keyring).find(wanted, { maxTimeMS }).toArray()
        for (const document of documents) found.set(document._id, storedIn(document))
      }
      return found
    })

const stayOpen = (): Promise<void> => Promise.resolve()

/** Opens the keyring read-only. The caller closes the connection. */
export const openMongoKeyringReader = async (connection: KeyringConnection, masterKey: Uint8Array): Promise<Keyring> =>
  await openKeyring(readOnlyStorage({ find: findIn(connection), close: stayOpen }), masterKey)

/**
 * Opens the keyring in MongoDB. Rejects when the server is unavailable or when another master key wrapped the keys. The
 * caller closes the connection.
 *
 * Getting a key is always a majority write, so a key that encrypts text is never rolled back. The write always changes
 * the document (`asked`). Otherwise a deposed primary would acknowledge it, even for a key that was erased meanwhile.
 */
export const openMongoKeyring = async (
  connection: KeyringConnection,
  masterKey: Uint8Array,
): Promise<SharedKeyring> => {
  const { limitMs } = connection
  const keys = keysIn(connection.keyring)

  const ensure = async (name: string, wrapped: Uint8Array): Promise<StoredKey> => {
    const change = { $setOnInsert: { wrapped: new Binary(wrapped) }, $inc: { asked: 1 } }
    const options = { upsert: true, returnDocument: 'after' } as const
    const stored = await retryUpsert(() => keys.findOneAndUpdate({ _id: name }, change, options))
    if (stored === null) throw new Error(`the server did not create the document of key ${name}`)
    return storedIn(stored)
  }

  // Uses the server's clock, like the queries for erased keys. An attempt may wait long for its majority, so each retry
  // sets a new date. Thus the date is close to the acknowledgement.
  const eraseKey = async (name: string): Promise<void> => {
    const erased = { $unset: { wrapped: true, asked: true }, $currentDate: { erasedAt: true } } as const
    checkUpserted(await retryUpsert(() => keys.updateOne({ _id: name }, erased, { upsert: true })))
  }

  const storage: KeyStorage = {
    ensure: (name, wrapped) => outcomeOf(limitMs, () => ensure(name, wrapped)),
    find: findIn(connection),
    erase: (names) =>
      outcomeOf(limitMs, async ({ check }) => {
        for (let from = 0; from < names.length; from += BATCH) {
          check()
          await Promise.all(names.slice(from, from + BATCH).map(eraseKey))
        }
      }),
    close: stayOpen,
  }
  return await openKeyring(storage, masterKey)
}

/** Yields all keys ordered by name, for checks. Rejects when the server does not answer. */
export async function* mongoKeyRows({ keyring }: Pick<MongoConnection, 'keyring'>): AsyncGenerator<KeyRow> {
  for await (const { _id, wrapped, erasedAt } of keysIn(keyring).find({}, { sort: { _id: 1 } })) {
    if (erasedAt !== undefined && wrapped === undefined) continue
    yield { name: _id, wrapped: wrapped instanceof Binary ? wrapped.value() : null, isErased: erasedAt !== undefined }
  }
}

/** Yields the names of all erased keys, for checks. Rejects when the server does not answer. */
export async function* mongoErasedNames({ keyring }: Pick<MongoConnection, 'keyring'>): AsyncGenerator<string> {
  const isErased: Readonly<Record<string, unknown>> = { erasedAt: { $ne: null } }
  for await (const { _id } of keysIn(keyring).find(isErased, { projection: { _id: 1 } })) yield _id
}

/** Returns the names of all erased and of all other keys. Rejects when the server does not answer. */
export const mongoKeyNames = async (
  connection: Pick<MongoConnection, 'keyring'>,
): Promise<{ readonly erased: ReadonlyArray<string>; readonly kept: ReadonlyArray<string> }> => {
  const found = await keysIn(connection.keyring).find({}, { projection: { erasedAt: 1 } }).toArray()
  const namesOf = (documents: typeof found): ReadonlyArray<string> => documents.map(({ _id }) => _id)
  const isErased = ({ erasedAt }: KeyDocument): boolean => erasedAt !== undefined
  return { erased: namesOf(found.filter(isErased)), kept: namesOf(found.filter((key) => !isErased(key))) }
}

/** Each query for erased keys goes back this far, much longer than a write waits for its majority. */
const WINDOW_MS = 60_000

/** A document that each query for erased keys writes, with the time of the server's clock. */
interface Poll {
  readonly _id: string
  readonly at: Date
  readonly count: number
}

/**
 * Creates a query for the keys erased in the last minute and after its previous answer. It uses the server's clock; if
 * the clock of a new primary is behind, it uses the earlier time. It writes before it reads, because a deposed primary
 * cannot acknowledge the write and so cannot return outdated data.
 */
export const erasedLately = (
  { keyring, maintainedKeyring, limitMs }: KeyringConnection & Pick<MongoConnection, 'maintainedKeyring'>,
): (() => Promise<Either<string, ReadonlyArray<string>>>) => {
  let answeredAt: number | null = null
  let indexing: Promise<unknown> | null = null
  /** Creates the index. For a million keys this exceeds the timeout, so the first queries fail. */
  const ensureIndex = async (): Promise<void> => {
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
      await ensureIndex()
      check()
      const polls = keyring.collection<Poll>('polls')
      const change = { $currentDate: { at: true }, $inc: { count: 1 } } as const
      const poll = await retryUpsert(() =>
        polls.findOneAndUpdate({ _id: 'erasures' }, change, { upsert: true, returnDocument: 'after' }))
      if (poll === null) throw new Error('the server did not create the document of the query')
      const now = poll.at.getTime()
      const since = new Date(Math.min(answeredAt ?? now, now) - WINDOW_MS)
      const options = { projection: { _id: 1 }, maxTimeMS }
      const erased = await keysIn(keyring).find({ erasedAt: { $gt: since } }, options).toArray()
      answeredAt = now
      return erased.map(({ _id }) => _id)
    })
}
