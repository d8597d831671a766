import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { NO_CHECKPOINT } from '../../application/ports/documents.ts'
import type { Checkpointed, Documents, DocumentsUnavailable } from '../../application/ports/documents.ts'
import type { Logger } from '../../application/ports/environment.ts'
import type { EventStore, StoreUnavailable } from '../../application/ports/event-store.ts'
import { whyOlder } from '../older-log.ts'
import { modelOf } from '../projection.ts'
import type { Projection } from '../projection.ts'

interface CheckpointDeps {
  readonly store: Pick<EventStore, 'head' | 'read'>
  readonly documents: Pick<Documents, 'checkpoint' | 'discard'>
  readonly logger: Logger
}

interface LostFutureDeps extends CheckpointDeps {
  readonly projections: ReadonlyArray<Projection>
  /** Names of further checkpoints, without documents: what they stand for is done again. */
  readonly duties: ReadonlyArray<string>
  /** Read models of a server's log are kept: the log may be the wrong one. */
  readonly keepsReadModels: boolean
}

const NEWER_GONE = 'an older copy of the log was put in its place; what was made of the newer one begins anew'

/**
 * How far a duty has come, for the process that is about to do it, and therefore the one that may discard that where the
 * log is an older copy: what it stands for is done again.
 */
export const dutyCheckpoint =
  ({ store, documents, logger }: CheckpointDeps): Documents['checkpoint'] =>
  (whose) =>
  async () => {
    const checkpoint = await documents.checkpoint(whose)()
    if (E.isLeft(checkpoint)) return checkpoint
    const older = await whyOlder(store, checkpoint.right)()
    if (E.isLeft(older)) return E.left({ _tag: 'DocumentsUnavailable', reason: `the log does not answer: ${older.left.reason}` })
    const reason = older.right
    if (reason === null) return checkpoint
    logger.warn({ projection: whose.projection, checkpoint: checkpoint.right.position, reason }, NEWER_GONE)
    const discarded = await documents.discard(whose)()
    return E.isLeft(discarded) ? discarded : E.right(NO_CHECKPOINT)
  }

/** The log is an older copy than a read model that is kept; `reason` is for people. */
export interface OlderLog {
  readonly _tag: 'OlderLog'
  readonly reason: string
}

/**
 * Compares all checkpoints with the log: where an older copy was put in its place, read models show what no longer
 * happened. They are discarded, and the projector makes them anew, or the start ends with the reason. To be called
 * before anything is appended.
 */
export const discardLostFuture =
  (deps: LostFutureDeps): TaskEither<StoreUnavailable | DocumentsUnavailable | OlderLog, void> =>
  async () => {
    const { store, documents, projections, duties, keepsReadModels, logger } = deps
    const duty = (projection: string): Checkpointed => ({ projection, collection: null })
    for (const whose of [...projections.map(modelOf), ...duties.map(duty)]) {
      // Before the end of the log is read: what another process appends between the two is no lost future.
      const checkpoint = await documents.checkpoint(whose)()
      if (E.isLeft(checkpoint)) return checkpoint
      const reason = await whyOlder(store, checkpoint.right)()
      if (E.isLeft(reason)) return reason
      if (reason.right === null) continue
      const { projection, collection } = whose
      if (keepsReadModels && collection !== null) {
        const remedy = `put the newer log back, or make the read model anew: stenolog rebuild ${projection}`
        return E.left({ _tag: 'OlderLog', reason: `the read model ${projection}: ${reason.right}; ${remedy}` })
      }
      const about = { projection, checkpoint: checkpoint.right.position, reason: reason.right }
      logger.warn(about, NEWER_GONE)
      const discarded = await documents.discard(whose)()
      if (E.isLeft(discarded)) return discarded
    }
    return E.right(undefined)
  }
