import { BSON } from 'mongodb'
import type { ReadForUpdate } from './split-updates.ts'
import type { Storage, View } from './storage.ts'

/** A command with its context. `namespace`: `database.collection`. */
export interface Call {
  readonly storage: Storage
  readonly cursors: Map<number, ReadonlyArray<BSON.Document>>
  readonly database: string
  readonly namespace: string
  readonly command: BSON.Document
  /** The state of the data that the command reads. */
  readonly view: View
  /** The time of the member that received it. */
  readonly now: Date
  /** How updates read the document that they change. */
  readonly readForUpdate: ReadForUpdate
}

/** The number of documents that MongoDB returns first when a command names no batch size. */
export const FIRST_BATCH = 101
export const OK = { ok: 1 }

let lastCursor = 0

export const listOf = (value: unknown): ReadonlyArray<BSON.Document> => (Array.isArray(value) ? value : [])

/** Answers with the first documents, and with a cursor for the others. */
export const cursorAnswer = (
  { cursors, namespace }: Pick<Call, 'cursors' | 'namespace'>,
  found: ReadonlyArray<BSON.Document>,
  size: number,
  isSingle = false,
): BSON.Document => {
  const rest = isSingle ? [] : found.slice(size)
  if (rest.length > 0) cursors.set(++lastCursor, rest)
  return {
    cursor: {
      firstBatch: found.slice(0, size),
      id: BSON.Long.fromNumber(rest.length > 0 ? lastCursor : 0),
      ns: namespace,
    },
    ...OK,
  }
}
