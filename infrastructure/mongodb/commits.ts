import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Collection } from 'mongodb'
import {
  type Change, type Checkpointed, type Commit, type Document, type Documents, type DocumentsUnavailable, type EventName,
  OUTRANKED, type PublishedProgress,
} from '../../application/ports/documents.ts'
import type { Position } from '../../application/ports/event-store.ts'
import { messageOf } from '../../domain/shared/message-of.ts'
import type { Collections } from './collections.ts'
import {
  checkUpserted, type GuardedPut, ignoreDuplicate, putGuarded, retryUpsert, type StoredDocument,
} from './guarded-writes.ts'
import { type Limit, outcomeOf } from './outcome.ts'

/**
 * A checkpoint: the position in the log up to which a read model contains all events. Its id is the server's name of
 * the collection, so both are replaced together. A duty (a background task that follows the log) has no collection. The
 * id of its checkpoint is the name of the duty.
 */
export interface StoredCheckpoint {
  readonly _id: string
  readonly v: Position
  readonly last?: EventName | null
  /** Token of the writer's lease; absent in checkpoints of versions without leases. */
  readonly token?: number
  /** The progress that the projection has published to other processes. */
  readonly told?: PublishedProgress
}

/** Matches tokens up to this one, and documents without a token. */
export const upTo = (token: number) => ({ $not: { $gt: token } })

type Raised = StoredCheckpoint & { readonly token: number }

/** The update that moves a checkpoint forwards. It matches no checkpoint that is later or has a higher token. */
const raiseOf = ({ _id, ...reached }: Raised) => ({
  filter: { _id, v: { $not: { $gt: reached.v } }, token: upTo(reached.token) },
  update: { $set: reached },
})

/**
 * Moves a checkpoint forwards, never backwards. Returns false when a writer with a higher token has written it, so this
 * writer has lost its lease.
 */
const raiseCheckpoint = async (checkpoints: Collection<StoredCheckpoint>, checkpoint: Raised): Promise<boolean> => {
  const { filter, update } = raiseOf(checkpoint)
  let isRaised = false
  await ignoreDuplicate(async () => {
    checkUpserted(await retryUpsert(() => checkpoints.updateOne(filter, update, { upsert: true })))
    isRaised = true
  })
  if (isRaised) return true
  const { _id, token } = checkpoint
  return (await checkpoints.findOne({ _id, token: { $gt: token } })) === null
}

/** Moves several checkpoints with one write. The rare others are new, later already, or have a higher token. */
const raiseCheckpoints = async (
  checkpoints: Collection<StoredCheckpoint>, reached: ReadonlyArray<Raised>,
): Promise<ReadonlyArray<boolean>> => {
  if (reached.length > 1) {
    const updates = reached.map((checkpoint) => ({ updateOne: raiseOf(checkpoint) }))
    const { matchedCount } = await checkpoints.bulkWrite(updates, { ordered: false })
    if (matchedCount === reached.length) return reached.map(() => true)
  }
  return await Promise.all(reached.map((checkpoint) => raiseCheckpoint(checkpoints, checkpoint)))
}

/** Converts the document through JSON, so it equals the documents of the other stores. */
const toStored = (change: Change): StoredDocument => ({
  _id: change.id,
  v: change.position,
  body: change.kind === 'put' ? (JSON.parse(JSON.stringify(change.document)) as Document) : null,
})

const toPut = (change: Change): GuardedPut => ({ document: toStored(change), replaces: change.replaces })

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

export const unavailable = (reason: string): DocumentsUnavailable => ({ _tag: 'DocumentsUnavailable', reason })

interface CommitsDeps {
  readonly checkpoints: Collection<StoredCheckpoint>
  readonly checkpointId: (whose: Checkpointed) => Promise<string>
  readonly current: Collections['current']
  readonly limitMs: number
}

/** A commit with the collections that its names stand for. */
interface Placed {
  readonly checkpoint: Raised
  readonly puts: ReadonlyArray<{
    readonly collection: Collection<StoredDocument>
    readonly puts: ReadonlyArray<GuardedPut>
  }>
}

/**
 * Makes commits together. First the documents of all are written. Then one write moves the checkpoints of those whose
 * documents are stored.
 */
export const createCommits = (
  { checkpoints, checkpointId, current, limitMs }: CommitsDeps,
): Documents['commitAll'] => {
  /** Resolves all names in one turn, so a replaced read model affects the documents and the checkpoint alike. */
  const placed = async ({ whose, changes, checkpoint: { position: v, last }, token }: Commit): Promise<Placed> => {
    const [_id, puts] = await Promise.all([
      checkpointId(whose),
      Promise.all([...latestByCollection(changes)].map(async ([name, changesById]) =>
        ({ collection: await current(name), puts: [...changesById.values()].map(toPut) }))),
    ])
    return { checkpoint: { _id, v, last, token }, puts }
  }

  /** Writes the documents of one commit. Left: why this commit failed. */
  const written = async (place: Promise<Placed>, limit: Limit): Promise<Either<DocumentsUnavailable, Raised>> => {
    try {
      const { puts, checkpoint } = await place
      await Promise.all(puts.map((put) => putGuarded(put.collection, put.puts, limit)))
      return E.right(checkpoint)
    } catch (error) {
      return E.left(unavailable(messageOf(error)))
    }
  }

  return async (commits) => {
    const places = commits.map(placed)
    const done = await outcomeOf(limitMs, async (limit) => {
      const outcomes = await Promise.all(places.map((place) => written(place, limit)))
      limit.check()
      const stored = outcomes.flatMap((outcome) => (E.isRight(outcome) ? [outcome.right] : []))
      const raised = await raiseCheckpoints(checkpoints, stored)
      return outcomes.map((outcome): Either<DocumentsUnavailable, void> => {
        if (E.isLeft(outcome)) return outcome
        return raised[stored.indexOf(outcome.right)] === true ? E.right(undefined) : E.left(OUTRANKED)
      })
    })
    return E.isRight(done) ? done.right : commits.map(() => E.left(unavailable(done.left)))
  }
}
