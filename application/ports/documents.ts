import type { Option } from 'fp-ts/lib/Option.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { BEGINNING } from './event-store.ts'
import type { Position, StoredEvent } from './event-store.ts'

export type Scalar = string | number | boolean | null
export type Document = Readonly<Record<string, unknown>>

/** The read models cannot be reached. */
export interface DocumentsUnavailable {
  readonly _tag: 'DocumentsUnavailable'
  readonly reason: string
}

/** Of who never committed. */
export const NO_CHECKPOINT: Checkpoint = { position: BEGINNING, last: null }

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

/** A projection and the collection of its documents, with which its checkpoint lies. */
export interface ReadModel {
  readonly projection: string
  readonly collection: string
}

/** Who has a checkpoint: a read model, or a duty, which has no documents. */
export type Checkpointed = ReadModel | { readonly projection: string; readonly collection: null }

/** Names an event, so that a log can be asked whether it holds it. */
export type EventName = Pick<StoredEvent, 'stream' | 'revision' | 'id'>

/** How far a read model or a duty has come. */
export interface Checkpoint {
  /** Everything up to here was considered. */
  readonly position: Position
  /** The newest event that was considered; null where none is known. */
  readonly last: EventName | null
}

/** The read models: documents with a position guard, and the checkpoint of each projection. */
export interface Documents {
  readonly ensure: (collections: ReadonlyArray<CollectionSpec>) => TaskEither<DocumentsUnavailable, void>
  /** All changes, then the checkpoint, which never goes back. Repeating it changes nothing. */
  readonly commit: (
    whose: Checkpointed,
    changes: ReadonlyArray<Change>,
    checkpoint: Checkpoint,
  ) => TaskEither<DocumentsUnavailable, void>
  /** NO_CHECKPOINT for who never committed. */
  readonly checkpoint: (whose: Checkpointed) => TaskEither<DocumentsUnavailable, Checkpoint>
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
   * Forgets a read model as if its projection had never committed; its collection is to be ensured again. Of a duty the
   * checkpoint alone. One that does not exist is no error.
   */
  readonly discard: (whose: Checkpointed) => TaskEither<DocumentsUnavailable, void>
  /**
   * At one moment for all readers: `to` is what `from` was, documents and checkpoint, and what `to` was is gone, as is
   * the name `from`. Repeating it changes nothing. What is still written to the former `to` reaches nobody.
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
