import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { type IdTaken, type SequenceKind, sequenceStream } from '../../domain/shared/sequence.ts'
import type { Unavailable } from '../refusals.ts'
import { appendWithRetries, type WriteDeps } from './handle-command.ts'
import { lastRestore } from './last-restore.ts'
import type { EventMetadata } from '../ports/event-store.ts'

/**
 * The first id sets the limit `maxCount` of the stream. The limit is set again after this many ids, in case a crash
 * prevented it.
 */
const TRUNCATION_INTERVAL = 100

/**
 * Takes the next id of a kind, counted from 1, or from the ids that the last restore skipped. An append with unknown
 * outcome may leave a gap. No id is used twice.
 */
export const nextId =
  (deps: WriteDeps) =>
  async (kind: SequenceKind, cause: Omit<EventMetadata, 'recordedAt'>): Promise<Either<Unavailable, number>> => {
    const stream = sequenceStream(kind)
    const restored = await lastRestore(deps)
    if (E.isLeft(restored)) return restored
    const recordedAt = deps.environment.now()
    const { type, data }: IdTaken = { type: 'IdTaken', data: { at: recordedAt } }
    const correlationId = deps.environment.correlationId() ?? cause.correlationId
    const metadata = { ...cause, correlationId, recordedAt }
    const event = { id: deps.environment.newId(), type, data, metadata }
    const appended = await appendWithRetries(deps, stream, 'any', [event])
    if (E.isLeft(appended)) {
      if (appended.left._tag === 'WrongRevision') throw new Error(`${stream} refused an append at any revision`)
      return E.left(appended.left)
    }
    const { revision } = appended.right
    if (revision % TRUNCATION_INTERVAL === 0) {
      const truncated = await deps.store.setMetadata(stream, { maxCount: 1 })
      if (E.isLeft(truncated)) return truncated
    }
    return E.right((restored.right?.idOffsets[kind] ?? 0) + revision + 1)
  }
