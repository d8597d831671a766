import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Document, Documents, DocumentsUnavailable, PageRequest } from '../application/ports/documents.ts'
import type { Keyring } from '../application/ports/keyring.ts'

/** The part of the documents port that queries use. */
export type ReadDocuments = Pick<Documents, 'get' | 'page'>

/** What queries need for documents with sealed members. */
export interface QueryDeps {
  readonly documents: ReadDocuments
  readonly keyring: Pick<Keyring, 'open'>
}

/** The documents of one collection, typed. */
export interface TypedDocuments<View> {
  readonly get: (id: string) => Promise<Either<DocumentsUnavailable, Option<View>>>
  readonly page: (request: PageRequest) => Promise<Either<DocumentsUnavailable, ReadonlyArray<View>>>
}

/** Reads typed documents of a collection. The cast is safe, because only its projection writes the collection. */
export const typedDocuments = <View extends object>(collection: string) => {
  const typed = (document: Document): View => document as View
  return (documents: ReadDocuments): TypedDocuments<View> => ({
    get: async (id) => pipe(await documents.get(collection, id), E.map(O.map(typed))),
    page: async (request) => pipe(await documents.page(collection, request), E.map((found) => found.map(typed))),
  })
}
