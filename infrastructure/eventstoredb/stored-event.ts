import type { RecordedEvent } from '@eventstore/db-client'
import * as E from 'fp-ts/lib/Either.js'
import type { EventMetadata, LogCorrupted, StoredEvent } from '../../application/ports/event-store.ts'
import { corrupted } from './failures.ts'
import { toPosition } from './positions.ts'

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)

/** An event as the client hands it out; what we did not write that way is reported, not guessed at. */
export const toStoredEvent = (recorded: RecordedEvent | undefined): E.Either<LogCorrupted, StoredEvent> => {
  if (recorded === undefined) return E.left(corrupted('a record without an event'))
  const { id, type, data, metadata, streamId, revision, position } = recorded
  const reason = `revision ${revision} of ${streamId} is no event of this service`
  if (position === undefined) return E.left(corrupted(reason))
  // The client hands out what it cannot parse as text or bytes.
  if (!isObject(data) || !isObject(metadata))
    return E.left(corrupted(reason, { stream: streamId, position: toPosition(position) }))
  // Our own appends wrote the metadata.
  const ours = metadata as unknown as EventMetadata
  return E.right({ id, type, data, metadata: ours, stream: streamId, revision: Number(revision), position: toPosition(position) })
}
