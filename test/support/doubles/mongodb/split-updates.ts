import type { BSON } from 'mongodb'

/** Updates of a document that arrive within this time read the same state of it. */
const APART_MS = 100

/** Returns the state of a document that an update sees, which may be older than the present one. */
export type ReadForUpdate = (key: string, read: () => BSON.Document | undefined) => BSON.Document | undefined

/** The reads of a server whose updates are atomic. */
export const readNow: ReadForUpdate = (_key, read) => read()

/** The reads of a server whose updates are not atomic: it reads a document, and writes it later without the filter. */
export const splitUpdates = (): ReadForUpdate => {
  const earlier = new Map<string, { readonly document: BSON.Document; readonly at: number }>()
  return (key, read) => {
    const known = earlier.get(key)
    if (known !== undefined && performance.now() - known.at < APART_MS) return known.document
    const document = read()
    if (document !== undefined) earlier.set(key, { document, at: performance.now() })
    return document
  }
}
