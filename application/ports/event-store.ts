import type { TaskEither } from 'fp-ts/lib/TaskEither.js'

/** Zero-based number of an event in its stream. */
export type Revision = number

/**
 * Place of an event in the whole log. Opaque, but its strings sort as the log does, so two positions compare with
 * `<`, fit a read model's guard, and survive as text.
 */
export type Position = string & { readonly _brand: 'Position' }

/** Before the first event. */
export const BEGINNING = '' as Position

/** `any` only for checkpoints, ids and snapshots: a retried append of the same ids must not write twice elsewhere. */
export type ExpectedRevision = Revision | 'no-stream' | 'any'

export interface EventMetadata {
  readonly correlationId: string
  readonly causationId: string
  /** `user:7`, `service` or `instance:<uuid>`. */
  readonly actor: string
  /** Instant in D23's form. */
  readonly recordedAt: string
}

export interface NewEvent {
  /** UUID (version 7, so that indexes stay ordered). The same id is the same event: appends are idempotent by it. */
  readonly id: string
  readonly type: string
  /** JSON object, personal members sealed. */
  readonly data: Readonly<Record<string, unknown>>
  readonly metadata: EventMetadata
}

/**
 * An event as it lies in the log. What its data says only `domain/read-event.ts` can tell: it may have the shape
 * of an earlier version, be of a type that this version does not know, or be damaged.
 */
export interface StoredEvent extends Omit<NewEvent, 'data'> {
  readonly data: unknown
  readonly stream: string
  readonly revision: Revision
  readonly position: Position
}

/** The store cannot be reached or did not answer in time; the outcome of an append is unknown. */
export interface StoreUnavailable {
  readonly _tag: 'StoreUnavailable'
  readonly reason: string
}

/** Somebody else appended first; `actual` is the stream's last revision. */
export interface WrongRevision {
  readonly _tag: 'WrongRevision'
  readonly stream: string
  readonly actual: Revision | 'no-stream'
}

/** A stored row is not what was written, or is nothing that any version writes. */
export interface LogCorrupted {
  readonly _tag: 'LogCorrupted'
  readonly reason: string
  /** Which row, where the log can be read on behind it. */
  readonly row?: { readonly position: Position; readonly stream: string }
}

/**
 * The log lacks the position that it was asked for: an older copy was put in its place. Asking again does not help, and
 * whoever begins anew from its end would lack what lies between.
 */
export interface OlderLog {
  readonly _tag: 'OlderLog'
  readonly reason: string
}

export interface Appended {
  /** Revision and position of the last event appended. */
  readonly revision: Revision
  readonly position: Position
}

export interface StreamMetadata {
  readonly maxCount?: number
  readonly maxAgeSeconds?: number
}

export type ReadOptions = {
  /** Inclusive; default: the first event forwards, the last one backwards. */
  readonly from?: Revision
  readonly direction?: 'forwards' | 'backwards'
  readonly limit?: number
}

export type SubscriptionMessage =
  | { readonly kind: 'event'; readonly event: StoredEvent }
  /** Everything up to here was considered, matching or not. Nobody may wait for one: a store says them as it likes. */
  | { readonly kind: 'checkpoint'; readonly position: Position }
  /**
   * All that was in the log when this was sent has been delivered: the one sign of the end. Its position, as that of
   * any message, is where to resume; what others append behind it moves it only now and then.
   */
  | { readonly kind: 'caught-up'; readonly position: Position }
  /** A row that is not what was written. Stores throw instead; `skipDamaged` sends this and goes on behind. */
  | { readonly kind: 'damaged'; readonly position: Position; readonly stream: string }

/**
 * The log. Appends are atomic and durable once answered. An append whose ids stand at expected+1 onward already is
 * answered as it was the first time. A deleted stream reads as empty and goes on numbering.
 */
export interface EventStore {
  readonly append: (
    stream: string,
    expected: ExpectedRevision,
    events: ReadonlyArray<NewEvent>,
  ) => TaskEither<WrongRevision | StoreUnavailable, Appended>
  /** An unknown stream reads as `[]`. */
  readonly read: (stream: string, options?: ReadOptions) => TaskEither<StoreUnavailable | LogCorrupted, ReadonlyArray<StoredEvent>>
  /**
   * Events of streams whose name starts with one of `prefixes`, after `from` (exclusive), in the order of the log,
   * then those still to come. Pulled: the next is read when the consumer asks. Ends when `signal` aborts; throws
   * StoreUnavailable or LogCorrupted (as an Error's cause) when the store goes away: the consumer resumes from its
   * own position. Throws OlderLog where the log has no such position any more.
   */
  readonly subscribe: (from: Position, prefixes: ReadonlyArray<string>, signal: AbortSignal) => AsyncIterable<SubscriptionMessage>
  /** Position of the newest event, BEGINNING when there is none. */
  readonly head: () => TaskEither<StoreUnavailable, Position>
  /** Of a deleted stream they may be lost: who appends to it again sets them again. */
  readonly setMetadata: (stream: string, metadata: StreamMetadata) => TaskEither<StoreUnavailable, void>
  /** Soft delete: the events are gone from reads, numbering goes on. */
  readonly deleteStream: (stream: string) => TaskEither<StoreUnavailable, void>
  readonly close: () => Promise<void>
}
