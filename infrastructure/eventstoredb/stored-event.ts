import type { RecordedEvent } from '@eventstore/db-client'
import * as E from 'fp-ts/lib/Either.js'
import type { EventMetadata, LogCorrupted, StoredEvent } from '../../application/ports/event-store.ts'
import { corrupted } from './failures.ts'
import { toPosition } from './positions.ts'

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)

/** Converts an event of the client. Left: the event does not have the form in which this service writes events. */
export const toStoredEvent = (recorded: RecordedEvent | undefined): E.Either<LogCorrupted, StoredEvent> => {
  if (recorded === undefined) return E.left(corrupted('a record without an event'))
  const { id, type, data, metadata, streamId, revision, position, created } = recorded
  const reason = `revision ${revision} of ${streamId} is not an event of this service`
  if (position === undefined) return E.left(corrupted(reason))
  // The client returns text or bytes for data that it cannot parse.
  if (!isObject(data) || !isObject(metadata))
    return E.left(corrupted(reason, { stream: streamId, position: toPosition(position) }))
  return E.right({
    id, type, data,
    // Only appends of this service write these streams, so the metadata has our form.
    metadata: metadata as unknown as EventMetadata,
    stream: streamId, revision: Number(revision), position: toPosition(position),
    storedAt: created.getTime(),
  })
}
