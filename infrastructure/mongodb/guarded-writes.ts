import { MongoBulkWriteError, MongoServerError } from 'mongodb'
import type { Collection, UpdateResult } from 'mongodb'
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

/** Every tested server with MongoDB's protocol handles this number of writes in one request. */
const BATCH = 50
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

/** Returns false when another writer has created one of the documents meanwhile. */
const insertAll = async (
  collection: Collection<StoredDocument>,
  documents: ReadonlyArray<StoredDocument>,
): Promise<boolean> => {
  if (documents.length === 0) return true
  try {
    const { insertedCount } = await collection.insertMany(documents, { ordered: false })
    if (insertedCount !== documents.length)
      throw new Error(`the server acknowledged ${insertedCount} of ${documents.length} inserts`)
    return true
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError) || error.result.getWriteConcernError() !== undefined) throw error
    const failures = [error.writeErrors].flat()
    if (failures.length === 0 || failures.some(({ code }) => code !== DUPLICATE_KEY)) throw error
    return false
  }
}

/** Replaces each document whose stored version is older. Returns false when one of them was not older. */
const replaceAll = async (
  collection: Collection<StoredDocument>,
  documents: ReadonlyArray<StoredDocument>,
): Promise<boolean> => {
  if (documents.length === 0) return true
  const replacements = documents.map(({ _id, v, body }) => ({
    replaceOne: { filter: { _id, v: { $lt: v } }, replacement: { v, body } },
  }))
  const { matchedCount } = await collection.bulkWrite(replacements, { ordered: false })
  return matchedCount === documents.length
}

const putBatch = async (
  collection: Collection<StoredDocument>, documents: ReadonlyArray<StoredDocument>, { maxTimeMS, check }: Limit,
): Promise<void> => {
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
    const [inserted, replaced] = [await insertAll(collection, absent), await replaceAll(collection, older)]
    if (inserted && replaced) return
  }
  throw new Error(`other writers changed the same documents ${MAX_ROUNDS} times`)
}

/**
 * Stores each document unless the stored document has the same or a later position. `documents` must have distinct ids.
 * A duplicate key or an unmatched filter may have two causes: a newer document exists, or another writer inserted the
 * same new id. So the stored positions are then read again.
 */
export const putGuarded = async (
  collection: Collection<StoredDocument>, documents: ReadonlyArray<StoredDocument>, limit: Limit,
): Promise<void> => {
  const count = Math.ceil(documents.length / BATCH)
  const batches = Array.from({ length: count }, (_, n) => documents.slice(n * BATCH, (n + 1) * BATCH))
  await Promise.all(batches.map((batch) => putBatch(collection, batch, limit)))
}
