import type { Option } from 'fp-ts/lib/Option.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Position } from './event-store.ts'

export type Scalar = string | number | boolean | null
export type Document = Readonly<Record<string, unknown>>

/** The read models cannot be reached. */
export interface DocumentsUnavailable {
  readonly _tag: 'DocumentsUnavailable'
  readonly reason: string
}

/** Replaces the whole document, or removes it, unless what is stored came from `position` or later. */
export type Change =
  | { readonly kind: 'put'; readonly collection: string; readonly id: string; readonly document: Document; readonly position: Position }
  | { readonly kind: 'remove'; readonly collection: string; readonly id: string; readonly position: Position }

/** Top-level members to compare; a list means any of its values. */
export type Filter = Readonly<Record<string, Scalar | ReadonlyArray<Scalar>>>

export interface PageRequest {
  readonly filter: Filter
  /** By a member that every document of the collection has, and that is never null. */
  readonly sort: { readonly by: string; readonly direction: 'ascending' | 'descending' }
  readonly skip: number
  readonly limit: number
}

export interface CollectionSpec {
  readonly name: string
  /** Each one: the top-level members that a query filters and sorts by, in that order. */
  readonly indexes: ReadonlyArray<ReadonlyArray<string>>
}

/** A document as it is stored. */
export interface ScannedDocument {
  readonly id: string
  /** Of the change that wrote it. */
  readonly position: Position
  /** Null: what is stored there is no document. */
  readonly document: Document | null
  /** As it lies in a store that keeps text: what has the same text is the same document. */
  readonly text?: string
}

/** A projection's checkpoint and its documents. */
export interface ReadModel {
  readonly projection: string
  readonly collection: string
}

/** The read models: documents with a position guard, and the checkpoint of each projection. */
export interface Documents {
  readonly ensure: (collections: ReadonlyArray<CollectionSpec>) => TaskEither<DocumentsUnavailable, void>
  /** All changes, then the projection's checkpoint. Repeating it changes nothing. */
  readonly commit: (projection: string, changes: ReadonlyArray<Change>, checkpoint: Position) => TaskEither<DocumentsUnavailable, void>
  /** BEGINNING for a projection that never committed. */
  readonly checkpoint: (projection: string) => TaskEither<DocumentsUnavailable, Position>
  readonly get: (collection: string, id: string) => TaskEither<DocumentsUnavailable, Option<Document>>
  /** Those of the documents `ids` that are there, by their ids: one request, however many they are. */
  readonly find: (
    collection: string,
    ids: ReadonlyArray<string>,
  ) => TaskEither<DocumentsUnavailable, ReadonlyMap<string, Document>>
  readonly page: (collection: string, request: PageRequest) => TaskEither<DocumentsUnavailable, ReadonlyArray<Document>>
  /** At most `limit` documents after the id `after` (null: from the first), in the order of the bytes of their ids. */
  readonly scan: (collection: string, after: string | null, limit: number) => TaskEither<DocumentsUnavailable, ReadonlyArray<ScannedDocument>>
  /**
   * Forgets a read model as if its projection had never committed; its collection is to be ensured again. Without a
   * collection: the checkpoint alone. One that does not exist is no error.
   */
  readonly discard: (model: { readonly projection: string; readonly collection: string | null }) => TaskEither<DocumentsUnavailable, void>
  /**
   * At one moment for all readers: `to` is what `from` was, documents and checkpoint, and what `to` was is gone, as is
   * the name `from`. Whoever writes `to` must not do so meanwhile.
   */
  readonly promote: (from: ReadModel, to: ReadModel) => TaskEither<DocumentsUnavailable, void>
  readonly close: () => Promise<void>
}

/** One page and the number of all items that match. */
export interface Page<A> {
  readonly items: ReadonlyArray<A>
  readonly total: number
}

export interface PageQuery {
  readonly skip: number
  readonly limit: number
}
