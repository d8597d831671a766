import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import {
  type Checkpointed, type Documents, type DocumentsUnavailable, NO_CHECKPOINT,
} from '../../application/ports/documents.ts'
import type { Logger } from '../../application/ports/environment.ts'
import type { EventStore, OlderLog, StoreUnavailable } from '../../application/ports/event-store.ts'
import { OLDER_LOG_REMEDY, olderLogReason } from '../older-log.ts'
import { modelOf, type Projection } from '../projection.ts'

interface CheckpointDeps {
  readonly store: Pick<EventStore, 'head' | 'read'>
  readonly documents: Pick<Documents, 'checkpoint' | 'discard'>
  readonly logger: Logger
}

interface CompareDeps {
  readonly store: CheckpointDeps['store']
  readonly documents: Pick<Documents, 'checkpoint'>
  readonly projections: ReadonlyArray<Projection>
  /** Names of duties. They have checkpoints without documents, and their work is done again. */
  readonly duties: ReadonlyArray<string>
}

interface DiscardDeps extends CompareDeps {
  readonly documents: CheckpointDeps['documents']
}

const DISCARDED = 'the log is an older copy; data that is newer than the log is discarded and built again'

/**
 * Reads the checkpoint of a duty, for the process that is about to run the duty. If the log is an older copy, the
 * checkpoint is discarded and the duty begins again.
 */
export const dutyCheckpoint =
  ({ store, documents, logger }: CheckpointDeps): Documents['checkpoint'] =>
  async (owner) => {
    const checkpoint = await documents.checkpoint(owner)
    if (E.isLeft(checkpoint)) return checkpoint
    const older = await olderLogReason(store, checkpoint.right)
    if (E.isLeft(older))
      return E.left({ _tag: 'DocumentsUnavailable', reason: `the log is unavailable: ${older.left.reason}` })
    const reason = older.right
    if (reason === null) return checkpoint
    logger.warn({ projection: owner.projection, checkpoint: checkpoint.right.position, reason }, DISCARDED)
    const discarded = await documents.discard(owner)
    return E.isLeft(discarded) ? discarded : E.right(NO_CHECKPOINT)
  }

interface Newer {
  readonly owner: Checkpointed
  readonly reason: string
}

/** Returns the read models and duties that contain events that the log lacks. */
const newerThanLog =
  async ({ store, documents, projections, duties }: CompareDeps):
    Promise<Either<StoreUnavailable | DocumentsUnavailable, ReadonlyArray<Newer>>> => {
    const duty = (projection: string): Checkpointed => ({ projection, collection: null })
    const newer: Array<Newer> = []
    for (const owner of [...projections.map(modelOf), ...duties.map(duty)]) {
      // Read before the end of the log, so events that another process appends in between do not matter.
      const checkpoint = await documents.checkpoint(owner)
      if (E.isLeft(checkpoint)) return checkpoint
      const older = await olderLogReason(store, checkpoint.right)
      if (E.isLeft(older)) return older
      if (older.right !== null) newer.push({ owner, reason: older.right })
    }
    return E.right(newer)
  }

/**
 * Fails with `OlderLog` if a read model or a duty contains events that the log lacks. Then the log is an older copy,
 * and no restore was recorded in it. Without the record, ids would be given out again, and ended logins would be valid.
 * Call it before the first append.
 */
export const refuseOlderLog = async (
  deps: CompareDeps,
): Promise<Either<StoreUnavailable | DocumentsUnavailable | OlderLog, void>> => {
  const newer = await newerThanLog(deps)
  if (E.isLeft(newer)) return newer
  const [first] = newer.right
  if (first === undefined) return E.right(undefined)
  const { owner, reason } = first
  return E.left({ _tag: 'OlderLog', reason: `${owner.projection}: ${reason}. ${OLDER_LOG_REMEDY}` })
}

/**
 * Discards the read models and duties that contain events that the log lacks, and returns their names. They are built
 * again. Only for a restore, before its events make the log longer.
 */
export const discardNewerThanLog =
  async (deps: DiscardDeps): Promise<Either<StoreUnavailable | DocumentsUnavailable, ReadonlyArray<string>>> => {
    const newer = await newerThanLog(deps)
    if (E.isLeft(newer)) return newer
    for (const { owner } of newer.right) {
      const discarded = await deps.documents.discard(owner)
      if (E.isLeft(discarded)) return discarded
    }
    return E.right(newer.right.map(({ owner }) => owner.projection))
  }
