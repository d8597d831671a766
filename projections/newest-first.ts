import * as TE from 'fp-ts/lib/TaskEither.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { DocumentsUnavailable, Filter, PageQuery } from '../application/ports/documents.ts'
import type { TypedDocuments } from './typed-documents.ts'

/**
 * A page by id, descending, of `total` documents, more than `skip`. From the nearer end: what is skipped is read, so
 * the last page of a long list costs as little as the first.
 */
export const newestFirst = <View>(
  { page }: Pick<TypedDocuments<View>, 'page'>,
  filter: Filter,
  { skip, limit }: PageQuery,
  total: number,
): TaskEither<DocumentsUnavailable, ReadonlyArray<View>> => {
  const behind = Math.max(0, total - skip - limit)
  if (skip <= behind) return page({ filter, sort: { by: 'id', direction: 'descending' }, skip, limit })
  const fromTheEnd = { skip: behind, limit: Math.min(limit, total - skip) }
  return TE.map((found: ReadonlyArray<View>) => found.toReversed())(
    page({ filter, sort: { by: 'id', direction: 'ascending' }, ...fromTheEnd }),
  )
}
