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

/** Why a commit is refused whose token is lower than the one of the stored checkpoint. */
export const OUTRANKED: DocumentsUnavailable = {
  _tag: 'DocumentsUnavailable',
  reason: 'another process has taken over what this one writes',
}

/** Why a promotion is refused whose documents are not where they were. */
export const MOVED: DocumentsUnavailable = {
  _tag: 'DocumentsUnavailable',
  reason: 'another process has put another read model in its place',
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

/** What the process that runs a projection tells the others of it, between checkpoints and without any. */
export interface Told {
  /** Everything up to here is in the documents. */
  readonly passed: Position
  /** Another one each time: who sees it change knows that somebody runs the projection. */
  readonly beat: number
  /** It has done all that it knows of. */
  readonly isResting: boolean
  readonly isHeldUp: boolean
  readonly isRebuilding: boolean
}

/** `token` is that of the teller's lease. */
export interface Telling {
  readonly model: ReadModel
  readonly token: number
  readonly told: Told
}

/** The read models: documents with a position guard, and the checkpoint of each projection. */
export interface Documents {
  /** Answers where the documents of each lie: elsewhere as soon as they were discarded, or another took their place. */
  readonly ensure: (collections: ReadonlyArray<CollectionSpec>) => TaskEither<DocumentsUnavailable, ReadonlyArray<string>>
  /**
   * All changes, then the checkpoint, which never goes back. Repeating it changes nothing. `token` is that of the
   * writer's lease, 0 where there is one process alone: once a higher one has written the checkpoint it is refused.
   */
  readonly commit: (
    whose: Checkpointed,
    changes: ReadonlyArray<Change>,
    checkpoint: Checkpoint,
    token?: number,
  ) => TaskEither<DocumentsUnavailable, void>
  /** Only of read models that have a checkpoint, and that no higher token has written. What was told may be forgotten. */
  readonly tell: (tellings: ReadonlyArray<Telling>) => TaskEither<DocumentsUnavailable, void>
  /** What was told of each last, in one request; null where nothing was. */
  readonly told: (models: ReadonlyArray<ReadModel>) => TaskEither<DocumentsUnavailable, ReadonlyArray<Told | null>>
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
   * the name `from`. Repeating it changes nothing. What is still written to the former `to` reaches nobody. Refused where
   * the documents of `from` or `to` lie elsewhere than in `places`, unless this is what put them there.
   */
  readonly promote: (
    from: ReadModel, to: ReadModel, places?: readonly [from: string, to: string],
  ) => TaskEither<DocumentsUnavailable, void>
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
