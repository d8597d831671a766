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
import { PATIENT_MS } from './connection.ts'
import { checkUpserted, despiteRaces, putGuarded, unlessThere } from './guarded-writes.ts'
import type { StoredDocument } from './guarded-writes.ts'
import { outcomeOf } from './outcome.ts'
import type { Limit } from './outcome.ts'
import { pageQuery } from './page-query.ts'

/** Its id is the server's collection that holds the documents, so that both change places together; of a duty its name. */
interface StoredCheckpoint {
  readonly _id: string
  readonly v: Position
  readonly last?: EventName | null
  /** Of the lease of who wrote it; absent before there were leases. */
  readonly token?: number
  readonly told?: PublishedProgress
}

/** Also where there is none: nobody with a higher one has written. */
const upTo = (token: number) => ({ $not: { $gt: token } })

/**
 * Never moves it back: who comes late finds it further on, and leaves it there. Answers whether it may have been moved:
 * not once a higher token has.
 */
const raiseCheckpoint = async (
  checkpoints: Collection<StoredCheckpoint>, checkpoint: StoredCheckpoint & { readonly token: number },
): Promise<boolean> => {
  const { _id, ...reached } = checkpoint
  const { v, token } = reached
  let isRaised = false
  const raise = () => checkpoints.updateOne({ _id, v: { $not: { $gt: v } }, token: upTo(token) }, { $set: reached }, { upsert: true })
  await unlessThere(async () => {
    checkUpserted(await despiteRaces(raise))
    isRaised = true
  })
  return isRaised || (await checkpoints.findOne({ _id, token: { $gt: token } })) === null
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
  const checkpointsIn = (database: Db) => database.collection<StoredCheckpoint>('checkpoints')
  const [checkpoints, maintained] = [checkpointsIn(readModels), checkpointsIn(maintenance)]

  const checkpointId = async ({ projection, collection }: Checkpointed): Promise<string> =>
    collection === null ? projection : (await collections.current(collection)).collectionName

  /** Versions before format 3 kept the checkpoint of a read model under its projection's name, as a duty's. */
  const forget = (projection: string) => maintained.updateOne({ _id: projection }, { $set: { v: BEGINNING, last: null } })

  const asked = async <A>(
    requests: (limit: Limit) => Promise<A>, limit = limitMs,
  ): Promise<Either<DocumentsUnavailable, A>> =>
    E.mapLeft(unavailable)(await outcomeOf(limit, requests))

  return {
    ensure: (specs) => () =>
      asked(async () => {
        const places: Array<string> = []
        for (const spec of specs) places.push(await collections.ensure(spec))
        return places
      }, PATIENT_MS),
    commit: (whose, changes, { position: v, last }, token = 0) => async () => {
      const latest = [...latestByCollection(changes)].map(([name, its]) => [name, [...its.values()].map(asStored)] as const)
      // In one turn: a pointer that moves meanwhile moves the collections of the changes and the checkpoint.
      const places = Promise.all([
        checkpointId(whose),
        ...latest.map(async ([name, documents]) => ({ collection: await collections.current(name), documents })),
      ])
      const done = await asked(async (limit) => {
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
      return asked(async ({ check }) => {
        const named = await ids
        check()
        const writes = updates.map(({ token, progress }, index) => ({
          updateOne: { filter: { _id: named[index] ?? '', token: upTo(token) }, update: { $set: { told: progress } } },
        }))
        if (writes.length > 0) await checkpoints.bulkWrite(writes, { ordered: false })
      })
    },
    publishedProgress: (models) => async () => {
      const ids = Promise.all(models.map(checkpointId))
      return asked(async ({ maxTimeMS }) => {
        const named = await ids
        const found = await checkpoints.find({ _id: { $in: named } }, { projection: { told: 1 }, maxTimeMS }).toArray()
        const told = new Map(found.map((one) => [one._id, one.told]))
        return named.map((id) => told.get(id) ?? null)
      })
    },
    checkpoint: (whose) => async () => {
      const id = checkpointId(whose)
      return asked(async ({ maxTimeMS }) => {
        const read = async (_id: string) => await checkpoints.findOne({ _id }, { maxTimeMS })
        const found = (await read(await id)) ?? (await read(whose.projection))
        return { position: found?.v ?? BEGINNING, last: found?.last ?? null }
      })
    },
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
        // First: an empty collection must never be taken to stand where the one before it stood.
        await forget(projection)
        if (collection !== null) await collections.renew(collection)
      }, PATIENT_MS),
    promote: (from, to, places) => () =>
      asked(async () => {
        await forget(to.projection)
        await forget(from.projection)
        await collections.flip(from.collection, to.collection, places)
      }, PATIENT_MS),
    close: () => Promise.resolve(),
  }
}
