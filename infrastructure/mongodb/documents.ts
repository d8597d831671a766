import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Change, Document, Documents, DocumentsUnavailable, Filter, PageRequest, Scalar } from '../../application/ports/documents.ts'
import { BEGINNING } from '../../application/ports/event-store.ts'
import type { Position } from '../../application/ports/event-store.ts'
import { createCollections, pathOf } from './collections.ts'
import { outcomeOf } from './connection.ts'
import type { MongoConnection } from './connection.ts'
import { checkUpserted, putGuarded } from './guarded-writes.ts'
import type { StoredDocument } from './guarded-writes.ts'

interface Checkpoint {
  readonly _id: string
  readonly v: Position
}

/**
 * Building an index over many documents, or dropping them, takes its time; nobody but a projection that starts or is
 * rebuilt waits for it. What puts one read model in the place of another must not go on after it was said to have failed.
 */
const PATIENT_MS = 600_000

const isList = (wanted: Scalar | ReadonlyArray<Scalar>): wanted is ReadonlyArray<Scalar> => Array.isArray(wanted)

/** Removed documents have no body. */
const conditionOf = (filter: Filter): Readonly<Record<string, unknown>> => ({
  ...Object.fromEntries(
    Object.entries(filter).map(([member, wanted]) => [pathOf(member), isList(wanted) ? { $in: wanted } : { $eq: wanted }]),
  ),
  body: { $ne: null },
})

/** Ties of the sort go by id, in the same direction, so that pages never overlap and the index serves both. */
const orderOf = ({ by, direction }: PageRequest['sort']): Record<string, 1 | -1> => {
  const order = direction === 'ascending' ? 1 : -1
  return { [pathOf(by)]: order, _id: order }
}

/** As JSON would store it, like every other store of read models. */
const asStored = (change: Change): StoredDocument => ({
  _id: change.id,
  v: change.position,
  body: change.kind === 'put' ? (JSON.parse(JSON.stringify(change.document)) as Document) : null,
})

/** The changes by collection; of several to one document the one of the latest position, which alone would stay. */
const latestByCollection = (changes: ReadonlyArray<Change>): ReadonlyMap<string, ReadonlyMap<string, Change>> => {
  const collections = new Map<string, Map<string, Change>>()
  for (const change of changes) {
    const latest = collections.get(change.collection) ?? new Map<string, Change>()
    const other = latest.get(change.id)
    if (other === undefined || change.position > other.position) latest.set(change.id, change)
    collections.set(change.collection, latest)
  }
  return collections
}

const unavailable = (reason: string): DocumentsUnavailable => ({ _tag: 'DocumentsUnavailable', reason })

/** Null for what is no object: somebody else wrote it. */
const documentIn = (body: unknown): Document | null =>
  typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as Document) : null

const requireCount = (name: string, value: number): number => {
  if (!Number.isSafeInteger(value) || value < 0) throw new TypeError(`${name} must be a whole number from 0`)
  return value
}

/** The read models in MongoDB. The connection is its opener's to close. */
export const createMongoDocuments = ({ readModels, limitMs }: Pick<MongoConnection, 'readModels' | 'limitMs'>): Documents => {
  const collections = createCollections(readModels)
  const checkpoints = readModels.collection<Checkpoint>('checkpoints')

  const asked = async <A>(requests: () => Promise<A>, limit = limitMs): Promise<Either<DocumentsUnavailable, A>> =>
    E.mapLeft(unavailable)(await outcomeOf(limit, requests))

  return {
    ensure: (specs) => () =>
      asked(async () => {
        for (const spec of specs) await collections.ensure(spec)
      }, PATIENT_MS),
    commit: (projection, changes, checkpoint) => async () => {
      const puts = [...latestByCollection(changes)].map(([name, latest]) => ({
        collection: collections.current(name),
        documents: [...latest.values()].map(asStored),
      }))
      return asked(async () => {
        await Promise.all(puts.map(async ({ collection, documents }) => putGuarded(await collection, documents)))
        checkUpserted(await checkpoints.updateOne({ _id: projection }, { $max: { v: checkpoint } }, { upsert: true }))
      })
    },
    checkpoint: (projection) => () => asked(async () => (await checkpoints.findOne({ _id: projection }))?.v ?? BEGINNING),
    get: (name, id) => async () => {
      const collection = collections.current(name)
      return asked(async () => O.fromNullable((await (await collection).findOne({ _id: id }))?.body))
    },
    page: (name, { filter, sort, skip, limit }) => async () => {
      const [condition, order] = [conditionOf(filter), orderOf(sort)]
      const [from, count] = [requireCount('skip', skip), requireCount('limit', limit)]
      const collection = collections.current(name)
      return asked(async () => {
        const opened = await collection
        // To the server a limit of 0 is none.
        if (count === 0) return []
        const found = await opened.find(condition, { projection: { body: 1 }, sort: order, skip: from, limit: count }).toArray()
        return found.flatMap(({ body }) => (body === null ? [] : [body]))
      })
    },
    scan: (name, after, limit) => async () => {
      const count = requireCount('limit', limit)
      const collection = collections.current(name)
      return asked(async () => {
        const opened = await collection
        if (count === 0) return []
        const filter = { ...(after === null ? {} : { _id: { $gt: after } }), body: { $ne: null } }
        const found = await opened.find(filter, { sort: { _id: 1 }, limit: count }).toArray()
        return found.map(({ _id, v, body }) => ({ id: _id, position: v, document: documentIn(body) }))
      })
    },
    discard: ({ projection, collection }) => () =>
      asked(async () => {
        // The checkpoint last but for what nobody sees any more: broken off before it, a discard is asked for again.
        const drop = collection === null ? null : await collections.renew(collection)
        await checkpoints.updateOne({ _id: projection }, { $set: { v: BEGINNING } })
        await drop?.()
      }, PATIENT_MS),
    promote: (from, to) => () =>
      asked(async () => {
        const reached = (await checkpoints.findOne({ _id: from.projection }))?.v ?? BEGINNING
        // Never a checkpoint past what the documents hold, wherever this breaks off.
        await checkpoints.updateOne({ _id: to.projection }, { $min: { v: reached } })
        await collections.flip(from.collection, to.collection)
        checkUpserted(await checkpoints.updateOne({ _id: to.projection }, { $set: { v: reached } }, { upsert: true }))
        await checkpoints.updateOne({ _id: from.projection }, { $set: { v: BEGINNING } })
      }, PATIENT_MS),
    close: () => Promise.resolve(),
  }
}
