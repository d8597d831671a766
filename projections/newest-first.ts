import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { DocumentsUnavailable, Filter, PageQuery } from '../application/ports/documents.ts'
import type { TypedDocuments } from './typed-documents.ts'

/**
 * Returns a page of documents by descending id. `total` is the number of all documents and must be greater than `skip`.
 * The page is read from the nearer end of the list, because skipping costs time. `without`: members to leave out.
 */
export const newestFirst = async <View>(
  { page }: Pick<TypedDocuments<View>, 'page'>,
  filter: Filter,
  { skip, limit }: PageQuery,
  total: number,
  without: ReadonlyArray<string> = [],
): Promise<Either<DocumentsUnavailable, ReadonlyArray<View>>> => {
  const skipFromEnd = Math.max(0, total - skip - limit)
  if (skip <= skipFromEnd) return page({ filter, sort: { by: 'id', direction: 'descending' }, skip, limit, without })
  const found = await page({
    filter, sort: { by: 'id', direction: 'ascending' }, skip: skipFromEnd, limit: Math.min(limit, total - skip),
    without,
  })
  return pipe(found, E.map((views) => views.toReversed()))
}
