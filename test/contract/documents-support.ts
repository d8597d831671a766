import type { Change, Document, Documents, PageRequest } from '../../application/ports/documents.ts'
import type { Position } from '../../application/ports/event-store.ts'
import { checkpointAt } from '../support/read-models/checkpoints.ts'
import { right } from './event-store-support.ts'

export const positionAt = (n: number): Position => String(n).padStart(20, '0') as Position

export const put = (id: string, position: number, document: Document, collection = 'lives'): Change =>
  ({ kind: 'put', collection, id, document, position: positionAt(position) })

export const remove = (id: string, position: number): Change => ({
  kind: 'remove',
  collection: 'lives',
  id,
  position: positionAt(position),
})

/** Requests the first 100 documents, sorted by `id`. */
export const everything: PageRequest = { filter: {}, sort: { by: 'id', direction: 'ascending' }, skip: 0, limit: 100 }

export const MODEL = { projection: 'projection', collection: 'lives' }

/** Commits changes of `MODEL` with a checkpoint at the given position. */
export const commit = (documents: Documents, changes: ReadonlyArray<Change>, checkpoint = 0): Promise<void> =>
  right(documents.commit(MODEL, changes, checkpointAt(positionAt(checkpoint))))

/** Returns the `id` members of a page of `lives`. */
export const ids = async (documents: Documents, request: Partial<PageRequest>): Promise<ReadonlyArray<unknown>> =>
  (await right(documents.page('lives', { ...everything, ...request }))).map((document) => document['id'])
