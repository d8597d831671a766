import * as TE from 'fp-ts/lib/TaskEither.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Documents, DocumentsUnavailable } from '../application/ports/documents.ts'
import type { Projector } from '../application/ports/projector.ts'
import type { Projection } from './projection.ts'

type Readable = Pick<Documents, 'get' | 'find' | 'page'>

/**
 * The returned function says whether the projection of a collection is still catching up with the log. It returns true
 * until the projection has processed the log as it was at the start of the service.
 */
export const catchingUpAfterStart = (
  projections: ReadonlyArray<Projection>,
  { lag }: Pick<Projector, 'lag'>,
): ((collection: string) => boolean) => {
  const catchingUp = new Map(projections.map(({ name, collection }) => [collection.name, name]))
  return (collection) => {
    const projection = catchingUp.get(collection)
    if (projection === undefined) return false
    const isCurrent = lag().some((state) => state.projection === projection && state.hasCaughtUp)
    if (isCurrent) catchingUp.delete(collection)
    return !isCurrent
  }
}

/** The error while a read model is still catching up after the start. */
export const CATCHING_UP: DocumentsUnavailable = {
  _tag: 'DocumentsUnavailable',
  reason: 'the read model is still catching up with the log after the start',
}

/**
 * Makes documents unavailable while their projection catches up after the start. Otherwise documents that are not
 * projected yet would look as if they did not exist.
 */
export const onceCurrent = ({ get, find, page }: Readable, isBehind: (collection: string) => boolean): Readable => {
  const ifCurrent = <A>(collection: string, read: TaskEither<DocumentsUnavailable, A>) =>
    isBehind(collection) ? TE.left(CATCHING_UP) : read
  return {
    get: (collection, id) => ifCurrent(collection, get(collection, id)),
    find: (collection, ids) => ifCurrent(collection, find(collection, ids)),
    page: (collection, request) => ifCurrent(collection, page(collection, request)),
  }
}
