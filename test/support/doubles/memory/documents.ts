import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type {
  Checkpoint, Commit, Document, Documents, DocumentsUnavailable, Filter, PublishedProgress, Scalar,
} from '../../../../application/ports/documents.ts'
import type { Position } from '../../../../application/ports/event-store.ts'

interface Stored {
  readonly position: Position
  /** Undefined when the document was removed. Its position stays, so an older change cannot restore the document. */
  readonly document: Document | undefined
}

/** A checkpoint, the lease token of its last writer, and the published progress. */
interface StoredCheckpoint {
  readonly checkpoint: Checkpoint
  readonly token: number
  readonly progress: PublishedProgress | null
}

const NO_CHECKPOINT: Checkpoint = { position: '' as Position, last: null }

const unavailable = (reason: string): DocumentsUnavailable => ({ _tag: 'DocumentsUnavailable', reason })
// The reasons are part of the port (OUTRANKED, MOVED). The contract tests compare them.
const OUTRANKED = unavailable('another process has taken over this read model')
const MOVED = unavailable('another process has replaced this read model')

const isAbsent = (value: unknown): boolean => value === null || value === undefined
const rank = (value: unknown): number => (isAbsent(value) ? 0 : typeof value === 'string' ? 2 : 1)
const compareBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

/** Order of values: null, numbers (false is 0, true is 1), then texts by their bytes. */
const compare = (a: unknown, b: unknown): number => {
  if (rank(a) !== rank(b)) return rank(a) - rank(b)
  if (isAbsent(a)) return 0
  return rank(a) === 2 ? compareBytes(String(a), String(b)) : Number(a) - Number(b)
}

const matches = (document: Document, filter: Filter): boolean =>
  Object.entries(filter).every(([member, wanted]) => {
    const values = Array.isArray(wanted) ? (wanted as ReadonlyArray<Scalar>) : [wanted]
    return values.some((value) => value === (document[member] ?? null))
  })

/** Creates read models in memory. */
export const createMemoryDocuments = (): Documents => {
  const collections = new Map<string, Map<string, Stored>>()
  const checkpoints = new Map<string, StoredCheckpoint>()
  /** Counts the discards and promotions of each collection name. */
  const generations = new Map<string, number>()
  /** Returns a text that changes whenever another collection gets the name. */
  const placeOf = (name: string): string => `${name} ${generations.get(name) ?? 0}`
  const move = (name: string): void => void generations.set(name, (generations.get(name) ?? 0) + 1)

  const collection = (name: string): Map<string, Stored> => {
    const found = collections.get(name)
    if (found === undefined) throw new Error(`collection ${name} was never ensured`)
    return found
  }

  const commit = (
    { whose: { projection }, changes, checkpoint, token }: Commit,
  ): Either<DocumentsUnavailable, void> => {
    for (const change of changes) {
      const documents = collection(change.collection)
      const stored = documents.get(change.id)
      if (stored !== undefined && stored.position >= change.position) continue
      const document = change.kind === 'put' ? (JSON.parse(JSON.stringify(change.document)) as Document) : undefined
      documents.set(change.id, { position: change.position, document })
    }
    const before = checkpoints.get(projection)
    if (before !== undefined && before.token > token) return E.left(OUTRANKED)
    if (before === undefined || checkpoint.position >= before.checkpoint.position)
      checkpoints.set(projection, { checkpoint, token, progress: before?.progress ?? null })
    return E.right(undefined)
  }

  return {
    ensure: async (specs) => {
      for (const { name } of specs) if (!collections.has(name)) collections.set(name, new Map())
      return E.right(specs.map(({ name }) => placeOf(name)))
    },
    commit: async (whose, changes, checkpoint, token = 0) => commit({ whose, changes, checkpoint, token }),
    commitAll: async (commits) =>
      commits.map((one) => E.flatten(E.tryCatch(() => commit(one), (error) => unavailable(String(error))))),
    publishProgress: async (updates) => {
      for (const { model: { projection }, token, progress } of updates) {
        const stored = checkpoints.get(projection)
        if (stored !== undefined && stored.token <= token) checkpoints.set(projection, { ...stored, progress })
      }
      return E.right(undefined)
    },
    publishedProgress: async (models) =>
      E.right(models.map(({ projection }) => checkpoints.get(projection)?.progress ?? null)),
    checkpoint: async ({ projection }) => E.right(checkpoints.get(projection)?.checkpoint ?? NO_CHECKPOINT),
    get: async (name, id) => E.right(O.fromNullable(collection(name).get(id)?.document)),
    find: async (name, ids) => {
      const found = ids.flatMap((id): ReadonlyArray<[string, Document]> => {
        const document = collection(name).get(id)?.document
        return document === undefined ? [] : [[id, document]]
      })
      return E.right(new Map(found))
    },
    page: async (name, { filter, sort, skip, limit, without = [] }) => {
      const invalid = [...Object.keys(filter), sort.by, ...without].find((member) => !/^[a-zA-Z]+$/.test(member))
      if (invalid !== undefined) throw new TypeError(`"${invalid}" is not a valid name of a member`)
      const sign = sort.direction === 'ascending' ? 1 : -1
      const found = [...collection(name)]
        .flatMap(([id, { document }]) => (document && matches(document, filter) ? [{ id, document }] : []))
        .sort((a, b) => sign * (compare(a.document[sort.by], b.document[sort.by]) || compareBytes(a.id, b.id)))
      const shown = ([member]: [string, unknown]): boolean => !without.includes(member)
      const page = found.slice(skip, skip + limit)
      return E.right(page.map(({ document }) => Object.fromEntries(Object.entries(document).filter(shown))))
    },
    scan: async (name, after, limit) => {
      const found = [...collection(name)]
        .filter(([id, { document }]) => document !== undefined && (after === null || compareBytes(id, after) > 0))
        .sort(([a], [b]) => compareBytes(a, b))
        .slice(0, limit)
      return E.right(found.map(([id, { position, document = null }]) => ({ id, position, document })))
    },
    discard: async ({ projection, collection: name }) => {
      checkpoints.delete(projection)
      if (name !== null) {
        collections.delete(name)
        move(name)
      }
      return E.right(undefined)
    },
    promote: async (from, to, places) => {
      const current = [placeOf(from.collection), placeOf(to.collection)]
      if (places?.some((place, index) => place !== current[index]) === true) return E.left(MOVED)
      collections.set(to.collection, collection(from.collection))
      collections.delete(from.collection)
      move(from.collection)
      move(to.collection)
      const promoted = checkpoints.get(from.projection)
      checkpoints.set(to.projection, promoted ?? { checkpoint: NO_CHECKPOINT, token: 0, progress: null })
      checkpoints.delete(from.projection)
      return E.right(undefined)
    },
    close: () => Promise.resolve(),
  }
}
