import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
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
  documents: Pick<Documents, 'get'>,
  projection: Projection,
  events: ReadonlyArray<StoredEvent>,
): Promise<Either<DocumentsUnavailable, ReadonlyArray<Change>>> => {
  const changes: Array<Change> = []
  const touched = [...byDocument(projection, events)]
  const stored = await Promise.all(touched.map(([id]) => documents.get(projection.collection.name, id)()))
  for (const [index, [id, its]] of touched.entries()) {
    const current = stored[index] ?? E.right(O.none)
    if (E.isLeft(current)) return current
    changes.push(...changeOf(projection, id, O.toNullable(current.right), its))
  }
  return E.right(changes)
}
