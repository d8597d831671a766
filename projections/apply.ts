import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Change, Document, Documents, DocumentsUnavailable } from '../application/ports/documents.ts'
import type { StoredEvent } from '../application/ports/event-store.ts'
import type { Projection } from './projection.ts'

const byDocument = (projection: Projection, events: ReadonlyArray<StoredEvent>): ReadonlyMap<string, ReadonlyArray<StoredEvent>> => {
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
 * What `events` make of one document, none when they leave it as it is. A stored document carries the position of the
 * last event in it: after a crash between documents and checkpoint those up to there come again and must not be
 * folded onto what they have made already.
 */
const changeOf = (
  projection: Projection,
  id: string,
  current: Document | null,
  events: ReadonlyArray<StoredEvent>,
): ReadonlyArray<Change> => {
  const fresh = events.filter(({ position }) => typeof current?.['position'] !== 'string' || position > current['position'])
  const document = fresh.reduce((view, event) => projection.project(view, event, id), current)
  const position = fresh.at(-1)?.position
  if (position === undefined || document === current) return []
  const about = { collection: projection.collection.name, id, position }
  return document === null ? [{ kind: 'remove', ...about }] : [{ kind: 'put', ...about, document: { ...document, position } }]
}

/** Folds a run of events in memory: at most one change a document, whatever the number of its events. */
export const changesOf = async (
  documents: Pick<Documents, 'find'>,
  projection: Projection,
  events: ReadonlyArray<StoredEvent>,
): Promise<Either<DocumentsUnavailable, ReadonlyArray<Change>>> => {
  const touched = [...byDocument(projection, events)]
  if (touched.length === 0) return E.right([])
  const stored = await documents.find(projection.collection.name, touched.map(([id]) => id))()
  if (E.isLeft(stored)) return stored
  return E.right(touched.flatMap(([id, its]) => changeOf(projection, id, stored.right.get(id) ?? null, its)))
}
