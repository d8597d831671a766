import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { NO_CHECKPOINT } from '../../application/ports/documents.ts'
import type { Checkpointed, Documents, DocumentsUnavailable } from '../../application/ports/documents.ts'
import type { Logger } from '../../application/ports/environment.ts'
import type { EventStore, StoreUnavailable } from '../../application/ports/event-store.ts'
import { olderLogReason } from '../older-log.ts'
import { modelOf } from '../projection.ts'
import type { Projection } from '../projection.ts'

interface CheckpointDeps {
  readonly store: Pick<EventStore, 'head' | 'read'>
  readonly documents: Pick<Documents, 'checkpoint' | 'discard'>
  readonly logger: Logger
}

interface DiscardDeps extends CheckpointDeps {
  readonly projections: ReadonlyArray<Projection>
  /** Names of duties. They have checkpoints without documents, and their work is done again. */
  readonly duties: ReadonlyArray<string>
  /** True: read models are kept and the start is refused, because a server may be configured with the wrong log. */
  readonly keepsReadModels: boolean
}

const DISCARDED = 'the log is an older copy; data that is newer than the log is discarded and built again'

/**
 * Reads the checkpoint of a duty, for the process that is about to run the duty. If the log is an older copy, the
 * checkpoint is discarded and the duty begins again.
 */
export const dutyCheckpoint =
  ({ store, documents, logger }: CheckpointDeps): Documents['checkpoint'] =>
  (owner) =>
  async () => {
    const checkpoint = await documents.checkpoint(owner)()
    if (E.isLeft(checkpoint)) return checkpoint
    const older = await olderLogReason(store, checkpoint.right)()
    if (E.isLeft(older))
      return E.left({ _tag: 'DocumentsUnavailable', reason: `the log is unavailable: ${older.left.reason}` })
    const reason = older.right
    if (reason === null) return checkpoint
    logger.warn({ projection: owner.projection, checkpoint: checkpoint.right.position, reason }, DISCARDED)
    const discarded = await documents.discard(owner)()
    return E.isLeft(discarded) ? discarded : E.right(NO_CHECKPOINT)
  }

/** The log is an older copy than a read model. `reason` is a message for users. */
export interface OlderLog {
  readonly _tag: 'OlderLog'
  readonly reason: string
}

/**
 * Compares all checkpoints with the log. If the log is an older copy, read models contain events that the log lacks.
 * Then this discards the read models, and the projector builds them again. With `keepsReadModels` it keeps them and
 * returns `OlderLog` instead. Call it before the first append.
 */
export const discardNewerThanLog =
  (deps: DiscardDeps): TaskEither<StoreUnavailable | DocumentsUnavailable | OlderLog, void> =>
  async () => {
    const { store, documents, projections, duties, keepsReadModels, logger } = deps
    const duty = (projection: string): Checkpointed => ({ projection, collection: null })
    for (const owner of [...projections.map(modelOf), ...duties.map(duty)]) {
      // Read before the end of the log, so events that another process appends in between do not matter.
      const checkpoint = await documents.checkpoint(owner)()
      if (E.isLeft(checkpoint)) return checkpoint
      const reason = await olderLogReason(store, checkpoint.right)()
      if (E.isLeft(reason)) return reason
      if (reason.right === null) continue
      const { projection, collection } = owner
      if (keepsReadModels && collection !== null) {
        const remedy = `Restore the newer log, or rebuild the read model: stenolog rebuild ${projection}`
        return E.left({ _tag: 'OlderLog', reason: `read model ${projection}: ${reason.right}. ${remedy}` })
      }
      const about = { projection, checkpoint: checkpoint.right.position, reason: reason.right }
      logger.warn(about, DISCARDED)
      const discarded = await documents.discard(owner)()
      if (E.isLeft(discarded)) return discarded
    }
    return E.right(undefined)
  }
