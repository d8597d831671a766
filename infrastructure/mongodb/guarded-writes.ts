import { type Collection, MongoBulkWriteError, MongoServerError, type UpdateResult } from 'mongodb'
import type { Document } from '../../application/ports/documents.ts'
import type { Position } from '../../application/ports/event-store.ts'
import type { Limit } from './outcome.ts'

/** A document of the port in its stored form. */
export interface StoredDocument {
  readonly _id: string
  /** Position of the change that wrote the document. */
  readonly v: Position
  /** Null: the document was removed. Its position stays, so an older change cannot restore it. */
  readonly body: Document | null
}

/** A write fails after this number of rounds in which other writers were faster. */
const MAX_ROUNDS = 10
/** Error code: another document has the key. */
const DUPLICATE_KEY = 11000
const MAX_ATTEMPTS = 5

/** Throws an Error when an acknowledged upsert neither found nor created its document. */
export const checkUpserted = (
  { matchedCount, upsertedCount }: Pick<UpdateResult, 'matchedCount' | 'upsertedCount'>,
): void => {
  if (matchedCount + upsertedCount !== 1) throw new Error('the server acknowledged a write that it did not make')
}

/** Whether a write failed because another document has the key. */
export const isDuplicate = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === DUPLICATE_KEY

/**
 * Runs an upsert. If a document with this key exists but does not match the filter, the upsert fails with a duplicate
 * key. The document then stays unchanged, and the error is ignored.
 */
export const ignoreDuplicate = async (upsert: () => Promise<void>): Promise<void> => {
  try {
    await upsert()
  } catch (error) {
    if (!isDuplicate(error)) throw error
  }
}

/** Retries an upsert that lost a race: another writer created the document, so the retry finds it. */
export const retryUpsert = async <A>(upsert: () => Promise<A>): Promise<A> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await upsert()
    } catch (error) {
      if (!isDuplicate(error) || attempt === MAX_ATTEMPTS) throw error
    }
  }
}

/** A document to store. `replaces`: position of the stored document; null if there is none; absent if unknown. */
export interface GuardedPut {
  readonly document: StoredDocument
  readonly replaces?: Position | null | undefined
}

/**
 * Inserts documents, and replaces those whose stored version is older, in one bulk write. Returns false when another
 * writer has created one of the new documents, or when a stored document is not older.
 */
const writeAll = async (
  collection: Collection<StoredDocument>,
  absent: ReadonlyArray<StoredDocument>,
  older: ReadonlyArray<StoredDocument>,
): Promise<boolean> => {
  if (absent.length + older.length === 0) return true
  const inserts = absent.map((document) => ({ insertOne: { document } }))
  const replacements = older.map(({ _id, v, body }) => ({
    replaceOne: { filter: { _id, v: { $lt: v } }, replacement: { v, body } },
  }))
  try {
    const { insertedCount, matchedCount } =
      await collection.bulkWrite([...inserts, ...replacements], { ordered: false })
    if (insertedCount !== absent.length)
      throw new Error(`the server acknowledged ${insertedCount} of ${absent.length} inserts`)
    return matchedCount === older.length
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError) || error.result.getWriteConcernError() !== undefined) throw error
    const failures = [error.writeErrors].flat()
    if (failures.length === 0 || failures.some(({ code }) => code !== DUPLICATE_KEY)) throw error
    return false
  }
}

/** Writes without a read, if the writer knows all stored positions. Returns false when a position was not as known. */
const writeKnown = async (
  collection: Collection<StoredDocument>, puts: ReadonlyArray<GuardedPut>,
): Promise<boolean> => {
  if (puts.some(({ replaces }) => replaces === undefined)) return false
  const documentsOf = (isAbsent: boolean): ReadonlyArray<StoredDocument> =>
    puts.flatMap(({ document, replaces }) => ((replaces === null) === isAbsent ? [document] : []))
  return await writeAll(collection, documentsOf(true), documentsOf(false))
}

/**
 * Stores each document unless the stored document has the same or a later position. The documents must have distinct
 * ids. A duplicate key or an unmatched filter may have two causes: a newer document exists, or another writer inserted
 * the same new id. So the stored positions are then read again.
 */
export const putGuarded = async (
  collection: Collection<StoredDocument>, puts: ReadonlyArray<GuardedPut>, { maxTimeMS, check }: Limit,
): Promise<void> => {
  if (await writeKnown(collection, puts)) return
  const documents = puts.map(({ document }) => document)
  const ids = documents.map(({ _id }) => _id)
  for (let round = 0; round < MAX_ROUNDS; round++) {
    check()
    // Reads with majority concern. Otherwise the read could find a newer version that is rolled back later. The write
    // would be skipped because of it, and the document would be lost.
    const stored = await collection.find({ _id: { $in: ids } }, { projection: { v: 1 }, maxTimeMS }).toArray()
    check()
    const versions = new Map(stored.map(({ _id, v }) => [_id, v]))
    const absent = documents.filter(({ _id }) => !versions.has(_id))
    const older = documents.filter(({ _id, v }) => (versions.get(_id) ?? v) < v)
    if (await writeAll(collection, absent, older)) return
  }
  throw new Error(`other writers changed the same documents ${MAX_ROUNDS} times`)
}
