import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Change, Document, Documents, DocumentsUnavailable } from '../application/ports/documents.ts'
import type { StoredEvent } from '../application/ports/event-store.ts'
import type { Projection } from './projection.ts'

const eventsByDocument = (
  projection: Projection,
  events: ReadonlyArray<StoredEvent>,
): ReadonlyMap<string, ReadonlyArray<StoredEvent>> => {
  const touched = new Map<string, Array<StoredEvent>>()
  for (const event of events) {
    for (const id of projection.touches(event)) {
      const known = touched.get(id)
      if (known === undefined) touched.set(id, [event])
      else known.push(event)
    }
  }
  return touched
}

/**
 * Returns the change that `events` make to one document, or nothing when it stays the same. A stored document carries
 * the position of its last event. After a crash between documents and checkpoint, events up to that position come again
 * and are skipped.
 */
const changeOf = (
  projection: Projection,
  id: string,
  current: Document | null,
  events: ReadonlyArray<StoredEvent>,
): ReadonlyArray<Change> => {
  const folded = current?.['position']
  const newEvents = events.filter(({ position }) => typeof folded !== 'string' || position > folded)
  const document = newEvents.reduce((view, event) => projection.project(view, event, id), current)
  const position = newEvents.at(-1)?.position
  if (position === undefined || document === current) return []
  const about = { collection: projection.collection.name, id, position }
  if (document === null) return [{ kind: 'remove', ...about }]
  return [{ kind: 'put', ...about, document: { ...document, position } }]
}

/** Folds events in memory and returns at most one change for each document. */
export const changesOf = async (
  documents: Pick<Documents, 'find'>,
  projection: Projection,
  events: ReadonlyArray<StoredEvent>,
): Promise<Either<DocumentsUnavailable, ReadonlyArray<Change>>> => {
  const touched = [...eventsByDocument(projection, events)]
  if (touched.length === 0) return E.right([])
  const stored = await documents.find(projection.collection.name, touched.map(([id]) => id))()
  if (E.isLeft(stored)) return stored
  return E.right(touched.flatMap(([id, eventsOfDocument]) =>
    changeOf(projection, id, stored.right.get(id) ?? null, eventsOfDocument)))
}
