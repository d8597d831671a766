import { MongoBulkWriteError, MongoServerError } from 'mongodb'
import type { Collection, UpdateResult } from 'mongodb'
import type { Document } from '../../application/ports/documents.ts'
import type { Position } from '../../application/ports/event-store.ts'
import type { Limit } from './outcome.ts'

/** A document of the port as it is stored. */
export interface StoredDocument {
  readonly _id: string
  /** Of the change that wrote it. */
  readonly v: Position
  /** Null for a removed document: its position still guards it. */
  readonly body: Document | null
}

/** Every server that speaks MongoDB's protocol takes so many writes at once (decision 13). */
const BATCH = 50
/** Rounds in which others got in between, before it is their turn. */
const MAX_ROUNDS = 10
/** The code of a server that has another document under a key. */
const DUPLICATE_KEY = 11000
const MAX_ATTEMPTS = 5

/** Throws when an upsert of one document was acknowledged without having found or made it. */
export const checkUpserted = ({ matchedCount, upsertedCount }: Pick<UpdateResult, 'matchedCount' | 'upsertedCount'>): void => {
  if (matchedCount + upsertedCount !== 1) throw new Error('the server acknowledged a write that it has not made')
}

/** Whether a write was refused because its key is another document's. */
export const isDuplicate = (error: unknown): boolean => error instanceof MongoServerError && error.code === DUPLICATE_KEY

/** An upsert that leaves a document which is there already, and does not fit its filter, as it is. */
export const unlessThere = async (upsert: () => Promise<void>): Promise<void> => {
  try {
    await upsert()
  } catch (error) {
    if (!isDuplicate(error)) throw error
  }
}

/** Two who make the same document at once: one of them is told that it exists, and finds it then. */
export const despiteRaces = async <A>(upsert: () => Promise<A>): Promise<A> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await upsert()
    } catch (error) {
      if (!isDuplicate(error) || attempt === MAX_ATTEMPTS) throw error
    }
  }
}

/** False when another writer has put one of them there in the meantime. */
const insertAll = async (collection: Collection<StoredDocument>, documents: ReadonlyArray<StoredDocument>): Promise<boolean> => {
  if (documents.length === 0) return true
  try {
    const { insertedCount } = await collection.insertMany(documents, { ordered: false })
    if (insertedCount !== documents.length) throw new Error('the server acknowledged fewer inserts than it was asked for')
    return true
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError) || error.result.getWriteConcernError() !== undefined) throw error
    const failures = [error.writeErrors].flat()
    if (failures.length === 0 || failures.some(({ code }) => code !== DUPLICATE_KEY)) throw error
    return false
  }
}

/** Each only where the stored one is older: the position is checked by the very write. False when one of them was not. */
const replaceAll = async (collection: Collection<StoredDocument>, documents: ReadonlyArray<StoredDocument>): Promise<boolean> => {
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
    // A position that only this primary has would let us leave out a write, and be gone with the primary.
    const stored = await collection.find({ _id: { $in: ids } }, { projection: { v: 1 }, maxTimeMS }).toArray()
    check()
    const versions = new Map(stored.map(({ _id, v }) => [_id, v]))
    const absent = documents.filter(({ _id }) => !versions.has(_id))
    const older = documents.filter(({ _id, v }) => (versions.get(_id) ?? v) < v)
    const [inserted, replaced] = [await insertAll(collection, absent), await replaceAll(collection, older)]
    if (inserted && replaced) return
  }
  throw new Error('other writers of the same documents are always faster')
}

/**
 * Puts every document unless what is stored under its id came from its position or later. `documents` have ids of their
 * own. Neither a duplicate key nor a guard that did not match says alone that a document is there already (the race for a
 * new id ends in the same), so after either the stored positions are read again.
 */
export const putGuarded = async (
  collection: Collection<StoredDocument>, documents: ReadonlyArray<StoredDocument>, limit: Limit,
): Promise<void> => {
  const batches = Array.from({ length: Math.ceil(documents.length / BATCH) }, (_, n) => documents.slice(n * BATCH, (n + 1) * BATCH))
  await Promise.all(batches.map((batch) => putBatch(collection, batch, limit)))
}
