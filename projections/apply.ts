import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Change, Document, Documents, DocumentsUnavailable } from '../application/ports/documents.ts'
import type { Position, StoredEvent } from '../application/ports/event-store.ts'
import type { Projection } from './projection.ts'

/** Documents whose write has begun but may not have ended, by id. Null: removed. */
export type RecentDocuments = ReadonlyMap<string, Document | null>

/** The documents as they are after the changes. */
export const recentOf = (changes: ReadonlyArray<Change>): RecentDocuments =>
  new Map(changes.map((change) => [change.id, change.kind === 'put' ? change.document : null]))

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
  const replaces = typeof folded === 'string' ? (folded as Position) : null
  const about = { collection: projection.collection.name, id, position, replaces }
  if (document === null) return [{ kind: 'remove', ...about }]
  return [{ kind: 'put', ...about, document: { ...document, position } }]
}

/**
 * Folds events in memory and returns at most one change for each document. `recent`: documents that are newer than
 * those in the store.
 */
export const changesOf = async (
  documents: Pick<Documents, 'find'>,
  projection: Projection,
  events: ReadonlyArray<StoredEvent>,
  recent: RecentDocuments = new Map(),
): Promise<Either<DocumentsUnavailable, ReadonlyArray<Change>>> => {
  const touched = [...eventsByDocument(projection, events)]
  const unknown = touched.flatMap(([id]) => (recent.has(id) ? [] : [id]))
  const stored = unknown.length === 0
    ? E.right(new Map<string, Document>())
    : await documents.find(projection.collection.name, unknown)
  if (E.isLeft(stored)) return stored
  return E.right(touched.flatMap(([id, eventsOfDocument]) =>
    changeOf(projection, id, recent.get(id) ?? stored.right.get(id) ?? null, eventsOfDocument)))
}
