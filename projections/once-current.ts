import * as TE from 'fp-ts/lib/TaskEither.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Documents, DocumentsUnavailable } from '../application/ports/documents.ts'
import type { Projector } from '../application/ports/projector.ts'
import type { Projection } from './projection.ts'

type Readable = Pick<Documents, 'get' | 'find' | 'page'>

/**
 * The documents for who answers from them: not to be had, as if the store were away, while a projection is on its first
 * way through what was in the log at start. What it has not come to yet would read as if it did not exist.
 */
export const onceCurrent = (
  { get, find, page }: Readable,
  projections: ReadonlyArray<Projection>,
  { lag }: Pick<Projector, 'lag'>,
): Readable => {
  const behind = new Map(projections.map(({ name, collection }) => [collection.name, name]))
  const isBehind = (collection: string): boolean => {
    const projection = behind.get(collection)
    if (projection === undefined) return false
    const isCurrent = lag().some((one) => one.projection === projection && one.hasCaughtUp)
    if (isCurrent) behind.delete(collection)
    return !isCurrent
  }
  const reason = 'the read model is behind the log since the start'
  const unless = <A>(collection: string, read: TaskEither<DocumentsUnavailable, A>) =>
    isBehind(collection) ? TE.left({ _tag: 'DocumentsUnavailable', reason } as const) : read
  return {
    get: (collection, id) => unless(collection, get(collection, id)),
    find: (collection, ids) => unless(collection, find(collection, ids)),
    page: (collection, request) => unless(collection, page(collection, request)),
  }
}
