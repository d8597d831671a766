import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { DocumentsUnavailable, PageRequest } from '../application/ports/documents.ts'
import type { ListName } from '../application/ports/projector.ts'
import type { StoredEventOf } from '../domain/shared/event.ts'
import { defineProjection, type Projection } from './projection.ts'
import { type ReadDocuments, typedDocuments } from './typed-documents.ts'

/**
 * A total is counted in this number of documents, so an event rewrites only a part of the ids. The id of a document is
 * the number of its part as text.
 */
const PARTS = 64

export const partOf = (id: number): number => id % PARTS

/** Requests all parts of a total. */
export const ALL_PARTS: PageRequest = {
  filter: {}, sort: { by: 'part', direction: 'ascending' }, skip: 0, limit: PARTS,
}

interface TotalsDocument {
  readonly part: number
  readonly count: number
  /** The counted ids. If the event of a creation is damaged, the deletion must not lower the total. */
  readonly ids: ReadonlyArray<number>
}

interface TotalsSpec<Created, Deleted> extends Pick<Projection, 'prefixes'> {
  readonly name: ListName
  readonly created: Created
  readonly deleted: Deleted
  readonly idOf: (event: StoredEventOf<Created | Deleted>) => number
}

/** Counts the objects of a list, so that a page of the list need not count documents. Its collection has its name. */
export const defineTotals = <Created extends { readonly type: string }, Deleted extends { readonly type: string }>(
  { name, prefixes, created, deleted, idOf }: TotalsSpec<Created, Deleted>,
): Projection =>
  defineProjection({
    name,
    collection: { name, indexes: [['part']] },
    prefixes,
    events: [created, deleted],
    touches: (event) => [String(partOf(idOf(event)))],
    project: (current: TotalsDocument | null, event): TotalsDocument => {
      const id = idOf(event)
      const others = current?.ids.filter((other) => other !== id) ?? []
      const ids = event.type === created.type ? [...others, id] : others
      return { part: partOf(id), count: ids.length, ids }
    },
  })

/** Returns the total that the projection `name` counts. */
export const totalOf = async (
  documents: ReadDocuments, name: ListName,
): Promise<Either<DocumentsUnavailable, number>> =>
  pipe(
    await typedDocuments<TotalsDocument>(name)(documents).page({ ...ALL_PARTS, without: ['ids'] }),
    E.map((parts) => parts.reduce((sum, { count }) => sum + count, 0)),
  )
