import * as TE from 'fp-ts/lib/TaskEither.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Documents, DocumentsUnavailable } from '../application/ports/documents.ts'
import type { Projector } from '../application/ports/projector.ts'
import type { Projection } from './projection.ts'

type Readable = Pick<Documents, 'get' | 'find' | 'page'>

/** Whether the projection of a collection is on its first way through what was in the log at start. */
export const firstWay = (
  projections: ReadonlyArray<Projection>,
  { lag }: Pick<Projector, 'lag'>,
): ((collection: string) => boolean) => {
  const behind = new Map(projections.map(({ name, collection }) => [collection.name, name]))
  return (collection) => {
    const projection = behind.get(collection)
    if (projection === undefined) return false
    const isCurrent = lag().some((one) => one.projection === projection && one.hasCaughtUp)
    if (isCurrent) behind.delete(collection)
    return !isCurrent
  }
}

/** The refusal of who asks a read model that has not come to all that was there at start. */
export const behindSinceStart: DocumentsUnavailable = {
  _tag: 'DocumentsUnavailable',
  reason: 'the read model is behind the log since the start',
}

/**
 * The documents for who answers from them: not to be had, as if the store were away, while they are behind since the
 * start. What their projection has not come to yet would read as if it did not exist.
 */
export const onceCurrent = ({ get, find, page }: Readable, isBehind: (collection: string) => boolean): Readable => {
  const unless = <A>(collection: string, read: TaskEither<DocumentsUnavailable, A>) =>
    isBehind(collection) ? TE.left(behindSinceStart) : read
  return {
    get: (collection, id) => unless(collection, get(collection, id)),
    find: (collection, ids) => unless(collection, find(collection, ids)),
    page: (collection, request) => unless(collection, page(collection, request)),
  }
}
