import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { MOVED, NO_CHECKPOINT, OUTRANKED } from '../../../../application/ports/documents.ts'
import type { Checkpoint, Document, Documents, Filter, Scalar, PublishedProgress } from '../../../../application/ports/documents.ts'
import type { Position } from '../../../../application/ports/event-store.ts'

interface Stored {
  readonly position: Position
  /** None for a removed document: its position still guards it. */
  readonly document: Document | undefined
}

const rank = (value: unknown): number => (value === null || value === undefined ? 0 : typeof value === 'string' ? 2 : 1)

/** Null, then numbers (false and true among them as 0 and 1), then text by its bytes. */
const compare = (a: unknown, b: unknown): number => {
  if (rank(a) !== rank(b)) return rank(a) - rank(b)
  if (rank(a) === 0) return 0
  return rank(a) === 2 ? Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b))) : Number(a) - Number(b)
}

const matches = (document: Document, filter: Filter): boolean =>
  Object.entries(filter).every(([member, wanted]) => {
    const value = document[member] ?? null
    return (Array.isArray(wanted) ? (wanted as ReadonlyArray<Scalar>) : [wanted]).some((one) => one === value)
  })

/** The read models in memory. */
export const createMemoryDocuments = (): Documents => {
  const collections = new Map<string, Map<string, Stored>>()
  const checkpoints = new Map<string, { readonly checkpoint: Checkpoint; readonly token: number; readonly told: PublishedProgress | null }>()
  /** How often each name came to stand for other documents. */
  const places = new Map<string, number>()
  const placeOf = (name: string): string => `${name} ${places.get(name) ?? 0}`
  const move = (name: string): void => void places.set(name, (places.get(name) ?? 0) + 1)

  const collection = (name: string): Map<string, Stored> => {
    const found = collections.get(name)
    if (found === undefined) throw new Error(`collection ${name} was never ensured`)
    return found
  }

  return {
    ensure: (specs) => async () => {
      for (const { name } of specs) if (!collections.has(name)) collections.set(name, new Map())
      return TE.right(specs.map(({ name }) => placeOf(name)))()
    },
    commit: ({ projection }, changes, checkpoint, token = 0) => async () => {
      for (const change of changes) {
        const documents = collection(change.collection)
        const stored = documents.get(change.id)
        if (stored !== undefined && stored.position >= change.position) continue
        const document = change.kind === 'put' ? (JSON.parse(JSON.stringify(change.document)) as Document) : undefined
        documents.set(change.id, { position: change.position, document })
      }
      const before = checkpoints.get(projection)
      if (before !== undefined && before.token > token) return TE.left(OUTRANKED)()
      if (before === undefined || checkpoint.position >= before.checkpoint.position)
        checkpoints.set(projection, { checkpoint, token, told: before?.told ?? null })
      return TE.right(undefined)()
    },
    publishProgress: (updates) => async () => {
      for (const { model: { projection }, token, progress } of updates) {
        const stored = checkpoints.get(projection)
        if (stored !== undefined && stored.token <= token) checkpoints.set(projection, { ...stored, told: progress })
      }
      return TE.right(undefined)()
    },
    publishedProgress: (models) => async () => TE.right(models.map(({ projection }) => checkpoints.get(projection)?.told ?? null))(),
    checkpoint: ({ projection }) => () => TE.right(checkpoints.get(projection)?.checkpoint ?? NO_CHECKPOINT)(),
    get: (name, id) => async () => TE.right(O.fromNullable(collection(name).get(id)?.document))(),
    find: (name, ids) => async () => {
      const found = ids.flatMap((id): ReadonlyArray<[string, Document]> => {
        const document = collection(name).get(id)?.document
        return document === undefined ? [] : [[id, document]]
      })
      return TE.right(new Map(found))()
    },
    page: (name, { filter, sort, skip, limit }) => async () => {
      const bad = [...Object.keys(filter), sort.by].find((member) => !/^[a-zA-Z]+$/.test(member))
      if (bad !== undefined) throw new TypeError(`"${bad}" is not a valid name of a member`)
      const sign = sort.direction === 'ascending' ? 1 : -1
      const found = [...collection(name)]
        .flatMap(([id, { document }]) => (document !== undefined && matches(document, filter) ? [{ id, document }] : []))
        .sort((a, b) => sign * (compare(a.document[sort.by], b.document[sort.by]) || compare(a.id, b.id)))
      return TE.right(found.slice(skip, skip + limit).map(({ document }) => document))()
    },
    scan: (name, after, limit) => async () => {
      const found = [...collection(name)]
        .filter(([id, { document }]) => document !== undefined && (after === null || compare(id, after) > 0))
        .sort(([a], [b]) => compare(a, b))
      return TE.right(found.slice(0, limit).map(([id, { position, document = null }]) => ({ id, position, document })))()
    },
    discard: ({ projection, collection: name }) => async () => {
      checkpoints.delete(projection)
      if (name !== null) {
        collections.delete(name)
        move(name)
      }
      return TE.right(undefined)()
    },
    promote: (from, to, expected) => async () => {
      const isMoved = [from, to].some((model, index) => expected !== undefined && expected[index] !== placeOf(model.collection))
      if (isMoved) return TE.left(MOVED)()
      collections.set(to.collection, collection(from.collection))
      collections.delete(from.collection)
      move(from.collection)
      move(to.collection)
      checkpoints.set(to.projection, checkpoints.get(from.projection) ?? { checkpoint: NO_CHECKPOINT, token: 0, told: null })
      checkpoints.delete(from.projection)
      return TE.right(undefined)()
    },
    close: () => Promise.resolve(),
  }
}
