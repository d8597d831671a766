import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Db } from 'mongodb'
import type { Change, Document, Documents, DocumentsUnavailable } from '../../application/ports/documents.ts'
import { BEGINNING } from '../../application/ports/event-store.ts'
import type { Position } from '../../application/ports/event-store.ts'
import { requireCount } from '../require-count.ts'
import { createCollections } from './collections.ts'
import type { CollectionsConnection } from './collections.ts'
import { PATIENT_MS } from './connection.ts'
import { checkUpserted, putGuarded } from './guarded-writes.ts'
import type { StoredDocument } from './guarded-writes.ts'
import { outcomeOf } from './outcome.ts'
import type { Limit } from './outcome.ts'
import { pageQuery } from './page-query.ts'

interface Checkpoint {
  readonly _id: string
  readonly v: Position
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

/** The read models in MongoDB. The connection is its opener's to close. */
export const createMongoDocuments = (connection: CollectionsConnection): Documents => {
  const { readModels, maintenance, limitMs } = connection
  const collections = createCollections(connection)
  const checkpointsIn = (database: Db) => database.collection<Checkpoint>('checkpoints')
  const [checkpoints, maintained] = [checkpointsIn(readModels), checkpointsIn(maintenance)]

  const asked = async <A>(
    requests: (limit: Limit) => Promise<A>, limit = limitMs,
  ): Promise<Either<DocumentsUnavailable, A>> =>
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
      return asked(async (limit) => {
        await Promise.all(puts.map(async ({ collection, documents }) => putGuarded(await collection, documents, limit)))
        limit.check()
        checkUpserted(await checkpoints.updateOne({ _id: projection }, { $max: { v: checkpoint } }, { upsert: true }))
      })
    },
    checkpoint: (projection) => () =>
      asked(async ({ maxTimeMS }) => (await checkpoints.findOne({ _id: projection }, { maxTimeMS }))?.v ?? BEGINNING),
    get: (name, id) => async () => {
      const collection = collections.current(name)
      return asked(async ({ maxTimeMS }) => {
        const found = await (await collection).findOne({ _id: id }, { maxTimeMS })
        return O.fromNullable(found?.body)
      })
    },
    find: (name, ids) => async () => {
      const collection = collections.current(name)
      return asked(async ({ maxTimeMS }) => {
        const wanted = { _id: { $in: [...ids] } }
        const found = await (await collection).find(wanted, { projection: { body: 1 }, maxTimeMS }).toArray()
        const pair = ({ _id, body }: Pick<StoredDocument, '_id' | 'body'>): ReadonlyArray<[string, Document]> =>
          body === null ? [] : [[_id, body]]
        return new Map(found.flatMap(pair))
      })
    },
    page: (name, request) => async () => {
      const { filter, options } = pageQuery(request)
      const collection = collections.current(name)
      return asked(async ({ maxTimeMS }) => {
        const opened = await collection
        if (request.limit === 0) return []
        const found = await opened.find(filter, { ...options, maxTimeMS }).toArray()
        return found.flatMap(({ body }) => (body === null ? [] : [body]))
      })
    },
    scan: (name, after, limit) => async () => {
      const count = requireCount('limit', limit)
      const collection = collections.current(name)
      return asked(async ({ maxTimeMS }) => {
        const opened = await collection
        if (count === 0) return []
        const filter = { ...(after === null ? {} : { _id: { $gt: after } }), body: { $ne: null } }
        const found = await opened.find(filter, { sort: { _id: 1 }, limit: count, maxTimeMS }).toArray()
        return found.map(({ _id, v, body }) => ({ id: _id, position: v, document: documentIn(body) }))
      })
    },
    discard: ({ projection, collection }) => () =>
      asked(async () => {
        // The checkpoint last but for what nobody sees any more: broken off before it, a discard is asked for again.
        const drop = collection === null ? null : await collections.renew(collection)
        await maintained.updateOne({ _id: projection }, { $set: { v: BEGINNING } })
        await drop?.()
      }, PATIENT_MS),
    promote: (from, to) => () =>
      asked(async () => {
        const reached = (await maintained.findOne({ _id: from.projection }))?.v ?? BEGINNING
        // Never a checkpoint past what the documents hold, wherever this breaks off.
        await maintained.updateOne({ _id: to.projection }, { $min: { v: reached } })
        await collections.flip(from.collection, to.collection)
        checkUpserted(await maintained.updateOne({ _id: to.projection }, { $set: { v: reached } }, { upsert: true }))
        await maintained.updateOne({ _id: from.projection }, { $set: { v: BEGINNING } })
      }, PATIENT_MS),
    close: () => Promise.resolve(),
  }
}
