import type { Either } from 'fp-ts/lib/Either.js'
import type { Option } from 'fp-ts/lib/Option.js'
import { BEGINNING, type Position, type StoredEvent } from './event-store.ts'
import type { StuckAt } from './projector.ts'

export type Scalar = string | number | boolean | null
export type Document = Readonly<Record<string, unknown>>

/** The read models cannot be reached. */
export interface DocumentsUnavailable {
  readonly _tag: 'DocumentsUnavailable'
  readonly reason: string
  /** Part of the log, 0 to 1, that the list contains, while it is built from an old log. */
  readonly share?: number
}

/**
 * The refusal of a commit with an outdated fencing token. Each new holder of a lease gets a higher token, and the
 * stored checkpoint already has a higher one.
 */
export const OUTRANKED: DocumentsUnavailable = {
  _tag: 'DocumentsUnavailable',
  reason: 'another process has taken over this read model',
}

/** The refusal of a promotion (replacement of a read model) whose documents are not in the expected places. */
export const MOVED: DocumentsUnavailable = {
  _tag: 'DocumentsUnavailable',
  reason: 'another process has replaced this read model',
}

/** The checkpoint before the first commit. */
export const NO_CHECKPOINT: Checkpoint = { position: BEGINNING, last: null }

interface ChangeOf<Kind extends string> {
  readonly kind: Kind
  readonly collection: string
  readonly id: string
  readonly position: Position
  /**
   * Position of the stored document, as the writer knows it. Null: there is no document. It saves the store a read. A
   * wrong or missing value changes nothing else.
   */
  readonly replaces?: Position | null
}

/** Replaces or removes a document, unless the stored document has this position or a later one. */
export type Change = (ChangeOf<'put'> & { readonly document: Document }) | ChangeOf<'remove'>

/** Top-level members to compare. A list matches any of its values. */
export type Filter = Readonly<Record<string, Scalar | ReadonlyArray<Scalar>>>

export interface PageRequest {
  readonly filter: Filter
  /** `by`: a member that every document of the collection has and that is never null. */
  readonly sort: { readonly by: string; readonly direction: 'ascending' | 'descending' }
  readonly skip: number
  readonly limit: number
  /** Top-level members that are left out of the documents, because the caller does not need them. */
  readonly without?: ReadonlyArray<string>
}

export interface CollectionSpec {
  readonly name: string
  /** Each index lists top-level members in the order in which a query filters and sorts by them. */
  readonly indexes: ReadonlyArray<ReadonlyArray<string>>
}

/** A stored document. Its position guards it: a change with the same or an earlier position is ignored. */
export interface ScannedDocument {
  readonly id: string
  /** Position of the change that wrote the document. */
  readonly position: Position
  /** Null: the stored value is not a document. */
  readonly document: Document | null
  /** The stored text, in stores that keep documents as text. Equal texts mean equal documents. */
  readonly text?: string
}

export interface ReadModel {
  readonly projection: string
  readonly collection: string
}

/** The owner of a checkpoint: a read model, or a duty (a background task), which has no documents. */
export type Checkpointed = ReadModel | { readonly projection: string; readonly collection: null }

/** Members that identify an event, to check whether a log contains it. */
export type EventName = Pick<StoredEvent, 'stream' | 'revision' | 'id'>

/** Progress of a read model or a duty. */
export interface Checkpoint {
  /** All events up to this position are processed. */
  readonly position: Position
  readonly last: EventName | null
}

/** Progress of a projection, published by the process that runs it for other processes. */
export interface PublishedProgress {
  /** All events up to this position are in the documents. */
  readonly passed: Position
  /** Changes with each update. A changing beat shows that a process runs the projection. */
  readonly beat: number
  /** True when all known events are projected. */
  readonly isResting: boolean
  /** True while the projection retries after a failure. */
  readonly isHeldUp: boolean
  readonly isRebuilding: boolean
  /** See ProjectionLag. Versions before 0.2.0 do not publish these two. */
  readonly stuckAt?: StuckAt | null
  readonly share?: number | null
}

/** Progress of one read model. `token`: fencing token of the lease of the process that publishes it. */
export interface ProgressUpdate {
  readonly model: ReadModel
  readonly token: number
  readonly progress: PublishedProgress
}

/** The changes of one read model up to a checkpoint. `token`: fencing token of the writer's lease, 0 without leases. */
export interface Commit {
  readonly whose: Checkpointed
  readonly changes: ReadonlyArray<Change>
  readonly checkpoint: Checkpoint
  readonly token: number
}

/** Where the process that runs a projection tells the others its progress. */
interface SharedProgress {
  /**
   * Publishes progress. Ignores read models without a checkpoint, and read models whose checkpoint has a higher token.
   * Published progress may be lost.
   */
  readonly publishProgress: (updates: ReadonlyArray<ProgressUpdate>) => Promise<Either<DocumentsUnavailable, void>>
  /** Returns the last published progress of each read model, in one request. Null: none was published. */
  readonly publishedProgress: (
    models: ReadonlyArray<ReadModel>,
  ) => Promise<Either<DocumentsUnavailable, ReadonlyArray<PublishedProgress | null>>>
}

/** The read models: documents with a position guard, and the checkpoint of each projection. */
export interface Documents extends SharedProgress {
  /**
   * Creates missing collections and indexes. Returns the place of each collection: a text that changes when the
   * collection is discarded or replaced.
   */
  readonly ensure: (
    collections: ReadonlyArray<CollectionSpec>,
  ) => Promise<Either<DocumentsUnavailable, ReadonlyArray<string>>>
  /**
   * Writes all changes, then the checkpoint, which never goes back. Repeating a commit changes nothing. `token`:
   * fencing token of the writer's lease, 0 without leases. A commit is refused if the stored checkpoint has a higher
   * token.
   */
  readonly commit: (
    whose: Checkpointed,
    changes: ReadonlyArray<Change>,
    checkpoint: Checkpoint,
    token?: number,
  ) => Promise<Either<DocumentsUnavailable, void>>
  /**
   * Makes commits of different read models together: at most one bulk write for each collection, then one for all
   * checkpoints. Returns one outcome for each commit, because a commit that fails does not affect the others.
   */
  readonly commitAll: (commits: ReadonlyArray<Commit>) => Promise<ReadonlyArray<Either<DocumentsUnavailable, void>>>
  /** Returns the last checkpoint, or NO_CHECKPOINT before the first commit. */
  readonly checkpoint: (whose: Checkpointed) => Promise<Either<DocumentsUnavailable, Checkpoint>>
  readonly get: (collection: string, id: string) => Promise<Either<DocumentsUnavailable, Option<Document>>>
  /** Returns the existing documents by id, in one request. Ids without a document are left out. */
  readonly find: (
    collection: string,
    ids: ReadonlyArray<string>,
  ) => Promise<Either<DocumentsUnavailable, ReadonlyMap<string, Document>>>
  readonly page: (
    collection: string, request: PageRequest,
  ) => Promise<Either<DocumentsUnavailable, ReadonlyArray<Document>>>
  /** Returns up to `limit` documents after the id `after` (null: from the first), in the byte order of their ids. */
  readonly scan: (
    collection: string,
    after: string | null,
    limit: number,
  ) => Promise<Either<DocumentsUnavailable, ReadonlyArray<ScannedDocument>>>
  /**
   * Deletes the checkpoint and the documents of a read model. Afterwards call `ensure` again for its collection. A duty
   * has only a checkpoint. Discarding a missing read model is not an error.
   */
  readonly discard: (whose: Checkpointed) => Promise<Either<DocumentsUnavailable, void>>
  /**
   * Replaces the read model `to` by `from`, with documents and checkpoint, at the same moment for all readers. The name
   * `from` and the old documents are removed. Repeating the call changes nothing. Later writes to the old documents are
   * lost. Refused when the documents of the two read models are not in `places` before the call.
   */
  readonly promote: (
    from: ReadModel, to: ReadModel, places?: readonly [from: string, to: string],
  ) => Promise<Either<DocumentsUnavailable, void>>
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
