import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Db } from 'mongodb'
import type { Checkpointed, Document, Documents, DocumentsUnavailable } from '../../application/ports/documents.ts'
import { BEGINNING } from '../../application/ports/event-store.ts'
import { requireCount } from '../store-rules/require-count.ts'
import { type CollectionsConnection, createCollections } from './collections.ts'
import { MAINTENANCE_MS } from './connection.ts'
import { createCommits, type StoredCheckpoint, unavailable, upTo } from './commits.ts'
import type { StoredDocument } from './guarded-writes.ts'
import { type Limit, outcomeOf } from './outcome.ts'
import { pageQuery } from './page-query.ts'

/** Returns the stored body as a document; null when it is not an object, so this service did not write it. */
const documentIn = (body: unknown): Document | null =>
  typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as Document) : null

export const createMongoDocuments = (connection: CollectionsConnection): Documents => {
  const { readModels, maintenance, limitMs } = connection
  const collections = createCollections(connection)
  const checkpointsIn = (database: Db) => database.collection<StoredCheckpoint>('checkpoints')
  const [checkpoints, maintained] = [checkpointsIn(readModels), checkpointsIn(maintenance)]

  const checkpointId = async ({ projection, collection }: Checkpointed): Promise<string> =>
    collection === null ? projection : (await collections.current(collection)).collectionName

  /** Resets the checkpoint under the projection's name, where versions before format 3 stored it. */
  const resetOldCheckpoint = (projection: string) =>
    maintained.updateOne({ _id: projection }, { $set: { v: BEGINNING, last: null } })

  const request = async <A>(
    requests: (limit: Limit) => Promise<A>, limit = limitMs,
  ): Promise<Either<DocumentsUnavailable, A>> =>
    E.mapLeft(unavailable)(await outcomeOf(limit, requests))

  const commitAll = createCommits({ checkpoints, checkpointId, current: collections.current, limitMs })

  return {
    ensure: (specs) => request(async () => {
        const places: Array<string> = []
        for (const spec of specs) places.push(await collections.ensure(spec))
        return places
      }, MAINTENANCE_MS),
    commit: async (whose, changes, checkpoint, token = 0) => {
      const [outcome] = await commitAll([{ whose, changes, checkpoint, token }])
      return outcome ?? E.left(unavailable('the commit has no outcome'))
    },
    commitAll,
    publishProgress: async (updates) => {
      const ids = Promise.all(updates.map(({ model }) => checkpointId(model)))
      return request(async ({ check }) => {
        const checkpointIds = await ids
        check()
        const writes = updates.map(({ token, progress }, index) => {
          const filter = { _id: checkpointIds[index] ?? '', token: upTo(token) }
          return { updateOne: { filter, update: { $set: { told: progress } } } }
        })
        if (writes.length > 0) await checkpoints.bulkWrite(writes, { ordered: false })
      })
    },
    publishedProgress: async (models) => {
      const ids = Promise.all(models.map(checkpointId))
      return request(async ({ maxTimeMS }) => {
        const checkpointIds = await ids
        const options = { projection: { told: 1 }, maxTimeMS }
        const found = await checkpoints.find({ _id: { $in: checkpointIds } }, options).toArray()
        const progress = new Map(found.map(({ _id, told }) => [_id, told]))
        return checkpointIds.map((id) => progress.get(id) ?? null)
      })
    },
    checkpoint: async (target) => {
      const id = checkpointId(target)
      return request(async ({ maxTimeMS }) => {
        const read = async (_id: string) => await checkpoints.findOne({ _id }, { maxTimeMS })
        const found = (await read(await id)) ?? (await read(target.projection))
        return { position: found?.v ?? BEGINNING, last: found?.last ?? null }
      })
    },
    get: async (name, id) => {
      const collection = collections.current(name)
      return request(async ({ maxTimeMS }) => {
        const found = await (await collection).findOne({ _id: id }, { maxTimeMS })
        return O.fromNullable(found?.body)
      })
    },
    find: async (name, ids) => {
      const collection = collections.current(name)
      return request(async ({ maxTimeMS }) => {
        const wanted = { _id: { $in: [...ids] } }
        const found = await (await collection).find(wanted, { projection: { body: 1 }, maxTimeMS }).toArray()
        const pair = ({ _id, body }: Pick<StoredDocument, '_id' | 'body'>): ReadonlyArray<[string, Document]> =>
          body === null ? [] : [[_id, body]]
        return new Map(found.flatMap(pair))
      })
    },
    page: async (name, page) => {
      const { filter, options } = pageQuery(page)
      const collection = collections.current(name)
      return request(async ({ maxTimeMS }) => {
        const opened = await collection
        if (page.limit === 0) return []
        const found = await opened.find(filter, { ...options, maxTimeMS }).toArray()
        return found.flatMap(({ body }) => (body === null ? [] : [body]))
      })
    },
    scan: async (name, after, limit) => {
      const count = requireCount('limit', limit)
      const collection = collections.current(name)
      return request(async ({ maxTimeMS }) => {
        const opened = await collection
        if (count === 0) return []
        const filter = { ...(after === null ? {} : { _id: { $gt: after } }), body: { $ne: null } }
        const found = await opened.find(filter, { sort: { _id: 1 }, limit: count, maxTimeMS }).toArray()
        return found.map(({ _id, v, body }) => ({ id: _id, position: v, document: documentIn(body) }))
      })
    },
    discard: ({ projection, collection }) => request(async () => {
        // Resets the checkpoint first, so an empty collection never has the checkpoint of the previous one.
        await resetOldCheckpoint(projection)
        if (collection !== null) await collections.renew(collection)
      }, MAINTENANCE_MS),
    promote: (from, to, places) => request(async () => {
        await resetOldCheckpoint(to.projection)
        await resetOldCheckpoint(from.projection)
        await collections.flip(from.collection, to.collection, places)
      }, MAINTENANCE_MS),
    close: () => Promise.resolve(),
  }
}
