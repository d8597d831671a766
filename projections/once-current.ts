import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Documents, DocumentsUnavailable } from '../application/ports/documents.ts'
import type { Projector } from '../application/ports/projector.ts'
import type { Projection } from './projection.ts'

type Readable = Pick<Documents, 'get' | 'find' | 'page'>

/** The error while a read model is still catching up after the start. `share`: the part of the log that it contains. */
const catchingUp = (share: number | null): DocumentsUnavailable => ({
  _tag: 'DocumentsUnavailable',
  reason: 'the read model is still catching up with the log after the start',
  ...(share !== null && { share }),
})

/** Returns why a collection is not current yet, or null. */
export type WhyBehind = (collection: string) => DocumentsUnavailable | null

/**
 * The returned function says whether the projection of a collection is still catching up with the log, until the
 * projection has processed the log as it was at the start of the service.
 */
export const catchingUpAfterStart = (
  projections: ReadonlyArray<Projection>,
  { lag }: Pick<Projector, 'lag'>,
): WhyBehind => {
  const behind = new Map(projections.map(({ name, collection }) => [collection.name, name]))
  return (collection) => {
    const projection = behind.get(collection)
    if (projection === undefined) return null
    const state = lag().find((one) => one.projection === projection)
    if (state?.hasCaughtUp !== true) return catchingUp(state?.share ?? null)
    behind.delete(collection)
    return null
  }
}

/**
 * Makes documents unavailable while their projection catches up after the start. Otherwise documents that are not
 * projected yet would look as if they did not exist.
 */
export const onceCurrent = ({ get, find, page }: Readable, whyBehind: WhyBehind): Readable => {
  const ifCurrent = async <A>(collection: string, read: () => Promise<Either<DocumentsUnavailable, A>>) => {
    const why = whyBehind(collection)
    return why === null ? read() : E.left(why)
  }
  return {
    get: (collection, id) => ifCurrent(collection, () => get(collection, id)),
    find: (collection, ids) => ifCurrent(collection, () => find(collection, ids)),
    page: (collection, request) => ifCurrent(collection, () => page(collection, request)),
  }
}
