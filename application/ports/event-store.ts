import type { Either } from 'fp-ts/lib/Either.js'

/** Zero-based number of an event in its stream. */
export type Revision = number

/**
 * Position of an event in the whole log. The text is opaque, but texts sort in the order of the log, so positions can
 * be compared with `<`.
 */
export type Position = string & { readonly _brand: 'Position' }

export const BEGINNING = '' as Position

/**
 * The revision that the last event of the stream must have. Otherwise the append fails. Use `any` only for ids,
 * snapshots and records, because a retried append with `any` may write twice.
 */
export type ExpectedRevision = Revision | 'no-stream' | 'any'

export interface EventMetadata {
  readonly correlationId: string
  readonly causationId: string
  /** `user:7`, `service`, `restore` or `instance:<uuid>`. */
  readonly actor: string
  /** Instant, e.g. `2026-11-21T09:30:00.123456+00:00`. */
  readonly recordedAt: string
}

export interface NewEvent {
  /** UUID version 7, so indexes stay in order. Appending an event with the same id again does not write it twice. */
  readonly id: string
  readonly type: string
  /** JSON object. Its personal members are encrypted. */
  readonly data: Readonly<Record<string, unknown>>
  readonly metadata: EventMetadata
}

/**
 * An event from the log. `domain/read-event.ts` decodes its data. The data may have the shape of an earlier version, an
 * unknown type, or be damaged.
 */
export interface StoredEvent extends Omit<NewEvent, 'data'> {
  readonly data: unknown
  readonly stream: string
  readonly revision: Revision
  readonly position: Position
  /** When the store wrote the event: milliseconds since 1970 by the clock of the store. Use it for ages. */
  readonly storedAt: number
}

/** The store is unreachable or did not answer in time. The outcome of an append is unknown. */
export interface StoreUnavailable {
  readonly _tag: 'StoreUnavailable'
  readonly reason: string
}

/** Another writer appended first. `actual`: the last revision of the stream. */
export interface WrongRevision {
  readonly _tag: 'WrongRevision'
  readonly stream: string
  readonly actual: Revision | 'no-stream'
}

/** A stored row was changed, or is not a valid event. */
export interface LogCorrupted {
  readonly _tag: 'LogCorrupted'
  readonly reason: string
  /** The damaged row. Present when the rows after it can be read. */
  readonly row?: { readonly position: Position; readonly stream: string }
}

/**
 * The log does not contain the requested position, because it was replaced by an older copy. A retry does not help.
 * Continuing from the end of the log would skip events.
 */
export interface OlderLog {
  readonly _tag: 'OlderLog'
  readonly reason: string
}

export interface Appended {
  /** Revision and position of the last appended event. */
  readonly revision: Revision
  readonly position: Position
}

/** Limits of a stream. The store drops older events. */
export interface StreamMetadata {
  /** Number of the newest events that are kept. */
  readonly maxCount?: number
  readonly maxAgeSeconds?: number
}

export type ReadOptions = {
  /** Inclusive. Default: the first event when reading forwards, the last event when reading backwards. */
  readonly from?: Revision
  readonly direction?: 'forwards' | 'backwards'
  readonly limit?: number
}

export type SubscriptionMessage =
  | { readonly kind: 'event'; readonly event: StoredEvent }
  /**
   * All matching events up to this position were delivered. Do not wait for this message: a store may never send it.
   */
  | { readonly kind: 'checkpoint'; readonly position: Position }
  /**
   * All matching events that were in the log at this moment have been delivered. Only this message shows that the end
   * of the log was reached.
   */
  | { readonly kind: 'caught-up'; readonly position: Position }
  /** A damaged row. Only `skipDamaged` sends this message. The stores themselves throw an error. */
  | { readonly kind: 'damaged'; readonly position: Position; readonly stream: string }

/**
 * The log. An append is atomic, and durable when it returns. A repeated append with the same ids at the same expected
 * revision returns the result of the first append. A deleted stream reads as empty but keeps its revisions.
 */
export interface EventStore {
  readonly append: (
    stream: string,
    expected: ExpectedRevision,
    events: ReadonlyArray<NewEvent>,
  ) => Promise<Either<WrongRevision | StoreUnavailable, Appended>>
  /** Returns `[]` for an unknown stream. */
  readonly read: (
    stream: string,
    options?: ReadOptions,
  ) => Promise<Either<StoreUnavailable | LogCorrupted, ReadonlyArray<StoredEvent>>>
  /**
   * Yields the events after `from` (exclusive) in the order of the log, and continues with new events. Only streams
   * whose name begins with one of `prefixes` match. The next message is read when the consumer requests it.
   *
   * Ends when `signal` aborts. Throws an Error whose cause is StoreUnavailable, LogCorrupted or OlderLog. After
   * StoreUnavailable the consumer resumes from its own position.
   */
  readonly subscribe: (
    from: Position,
    prefixes: ReadonlyArray<string>,
    signal: AbortSignal,
  ) => AsyncIterable<SubscriptionMessage>
  /** Returns the position of the newest event, or BEGINNING for an empty log. */
  readonly head: () => Promise<Either<StoreUnavailable, Position>>
  /** Deleting a stream may remove its metadata. Set it again after appending to a deleted stream. */
  readonly setMetadata: (stream: string, metadata: StreamMetadata) => Promise<Either<StoreUnavailable, void>>
  /** Soft delete: reads return no events, but the stream keeps its revisions. */
  readonly deleteStream: (stream: string) => Promise<Either<StoreUnavailable, void>>
  /** The present time by the clock that stamps `storedAt`. The clock of this machine may be set without changing it. */
  readonly now: () => number
  readonly close: () => Promise<void>
}
