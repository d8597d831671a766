import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Collection, Db } from 'mongodb'
import { OUTRANKED } from '../../application/ports/documents.ts'
import type {
  Change, Checkpointed, Document, Documents, DocumentsUnavailable, EventName, PublishedProgress,
} from '../../application/ports/documents.ts'
import { BEGINNING } from '../../application/ports/event-store.ts'
import type { Position } from '../../application/ports/event-store.ts'
import { requireCount } from '../stores/require-count.ts'
import { createCollections } from './collections.ts'
import type { CollectionsConnection } from './collections.ts'
import { MAINTENANCE_MS } from './connection.ts'
import { checkUpserted, retryUpsert, putGuarded, ignoreDuplicate } from './guarded-writes.ts'
import type { StoredDocument } from './guarded-writes.ts'
import { outcomeOf } from './outcome.ts'
import type { Limit } from './outcome.ts'
import { pageQuery } from './page-query.ts'

/**
 * A checkpoint: the position in the log up to which a read model contains all events. Its id is the server's name of
 * the collection, so both are replaced together. A duty (a background task that follows the log) has no collection. The
 * id of its checkpoint is the name of the duty.
 */
interface StoredCheckpoint {
  readonly _id: string
  readonly v: Position
  readonly last?: EventName | null
  /** Token of the writer's lease; absent in checkpoints of versions without leases. */
  readonly token?: number
  /** The progress that the projection has published to other processes. */
  readonly told?: PublishedProgress
}

/** Matches tokens up to this one, and documents without a token. */
const upTo = (token: number) => ({ $not: { $gt: token } })

/**
 * Moves a checkpoint forwards, never backwards. Returns false when a writer with a higher token has written it, so this
 * writer has lost its lease.
 */
const raiseCheckpoint = async (
  checkpoints: Collection<StoredCheckpoint>, checkpoint: StoredCheckpoint & { readonly token: number },
): Promise<boolean> => {
  const { _id, ...reached } = checkpoint
  const { v, token } = reached
  let isRaised = false
  const notLater = { _id, v: { $not: { $gt: v } }, token: upTo(token) }
  const raise = () => checkpoints.updateOne(notLater, { $set: reached }, { upsert: true })
  await ignoreDuplicate(async () => {
    checkUpserted(await retryUpsert(raise))
    isRaised = true
  })
  return isRaised || (await checkpoints.findOne({ _id, token: { $gt: token } })) === null
}

/** Converts the document through JSON, so it equals the documents of the other stores. */
const toStored = (change: Change): StoredDocument => ({
  _id: change.id,
  v: change.position,
  body: change.kind === 'put' ? (JSON.parse(JSON.stringify(change.document)) as Document) : null,
})

/** Groups the changes by collection and keeps the latest change of each document. */
const latestByCollection = (
  changes: ReadonlyArray<Change>,
): ReadonlyMap<string, ReadonlyMap<string, Change>> => {
  const collections = new Map<string, Map<string, Change>>()
  for (const change of changes) {
    const latest = collections.get(change.collection) ?? new Map<string, Change>()
    const previous = latest.get(change.id)
    if (previous === undefined || change.position > previous.position) latest.set(change.id, change)
    collections.set(change.collection, latest)
  }
  return collections
}

const unavailable = (reason: string): DocumentsUnavailable => ({ _tag: 'DocumentsUnavailable', reason })

/** Returns the stored body as a document; null when it is not an object, so this service did not write it. */
const documentIn = (body: unknown): Document | null =>
  typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as Document) : null

/** Creates the read models in MongoDB. The caller closes the connection. */
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

  return {
    ensure: (specs) => () =>
      request(async () => {
        const places: Array<string> = []
        for (const spec of specs) places.push(await collections.ensure(spec))
        return places
      }, MAINTENANCE_MS),
    commit: (target, changes, { position: v, last }, token = 0) => async () => {
      const latest = [...latestByCollection(changes)].map(
        ([name, changesById]) => [name, [...changesById.values()].map(toStored)] as const,
      )
      // Resolves all names in one turn, so a replaced read model affects the documents and the checkpoint alike.
      const places = Promise.all([
        checkpointId(target),
        ...latest.map(async ([name, documents]) => ({ collection: await collections.current(name), documents })),
      ])
      const done = await request(async (limit) => {
        const [_id, ...puts] = await places
        await Promise.all(puts.map(({ collection, documents }) => putGuarded(collection, documents, limit)))
        limit.check()
        return await raiseCheckpoint(checkpoints, { _id, v, last, token })
      })
      if (E.isLeft(done)) return done
      return done.right ? E.right(undefined) : E.left(OUTRANKED)
    },
    publishProgress: (updates) => async () => {
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
    publishedProgress: (models) => async () => {
      const ids = Promise.all(models.map(checkpointId))
      return request(async ({ maxTimeMS }) => {
        const checkpointIds = await ids
        const options = { projection: { told: 1 }, maxTimeMS }
        const found = await checkpoints.find({ _id: { $in: checkpointIds } }, options).toArray()
        const progress = new Map(found.map(({ _id, told }) => [_id, told]))
        return checkpointIds.map((id) => progress.get(id) ?? null)
      })
    },
    checkpoint: (target) => async () => {
      const id = checkpointId(target)
      return request(async ({ maxTimeMS }) => {
        const read = async (_id: string) => await checkpoints.findOne({ _id }, { maxTimeMS })
        const found = (await read(await id)) ?? (await read(target.projection))
        return { position: found?.v ?? BEGINNING, last: found?.last ?? null }
      })
    },
    get: (name, id) => async () => {
      const collection = collections.current(name)
      return request(async ({ maxTimeMS }) => {
        const found = await (await collection).findOne({ _id: id }, { maxTimeMS })
        return O.fromNullable(found?.body)
      })
    },
    find: (name, ids) => async () => {
      const collection = collections.current(name)
      return request(async ({ maxTimeMS }) => {
        const wanted = { _id: { $in: [...ids] } }
        const found = await (await collection).find(wanted, { projection: { body: 1 }, maxTimeMS }).toArray()
        const pair = ({ _id, body }: Pick<StoredDocument, '_id' | 'body'>): ReadonlyArray<[string, Document]> =>
          body === null ? [] : [[_id, body]]
        return new Map(found.flatMap(pair))
      })
    },
    page: (name, page) => async () => {
      const { filter, options } = pageQuery(page)
      const collection = collections.current(name)
      return request(async ({ maxTimeMS }) => {
        const opened = await collection
        if (page.limit === 0) return []
        const found = await opened.find(filter, { ...options, maxTimeMS }).toArray()
        return found.flatMap(({ body }) => (body === null ? [] : [body]))
      })
    },
    scan: (name, after, limit) => async () => {
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
    discard: ({ projection, collection }) => () =>
      request(async () => {
        // Resets the checkpoint first, so an empty collection never has the checkpoint of the previous one.
        await resetOldCheckpoint(projection)
        if (collection !== null) await collections.renew(collection)
      }, MAINTENANCE_MS),
    promote: (from, to, places) => () =>
      request(async () => {
        await resetOldCheckpoint(to.projection)
        await resetOldCheckpoint(from.projection)
        await collections.flip(from.collection, to.collection, places)
      }, MAINTENANCE_MS),
    close: () => Promise.resolve(),
  }
}
