import type { ExpectedRevision, Revision } from '../../application/ports/event-store.ts'

export interface StreamState {
  /** Revision of the last event; -1 when the stream was never written. */
  readonly last: Revision
  /** First revision after the last deletion. Greater than `last` when the stream is deleted or was never written. */
  readonly base: Revision
  readonly idAt: (revision: Revision) => string | undefined
}

export type AppendOutcome =
  | { readonly kind: 'append'; readonly from: Revision }
  /** The stream already contains these events; the last one has the revision `last`. */
  | { readonly kind: 'stored'; readonly last: Revision }
  | { readonly kind: 'wrong-revision' }

/**
 * Decides an append by the rules of EventStoreDB. A retry gets the answer of the first attempt. To detect a retry, it
 * compares the ids of the new events with the stored ids from revision expected+1 on. `any` compares only with the last
 * events of the stream. Event data is never compared.
 */
export const outcomeOfAppend = (
  stream: StreamState,
  expected: ExpectedRevision,
  ids: ReadonlyArray<string>,
): AppendOutcome => {
  const isStoredAt = (from: Revision): boolean =>
    from >= 0 && from + ids.length - 1 <= stream.last && ids.every((id, index) => stream.idAt(from + index) === id)
  const stored = (from: Revision): AppendOutcome => ({ kind: 'stored', last: from + ids.length - 1 })
  const append: AppendOutcome = { kind: 'append', from: stream.last + 1 }

  if (expected === 'any') {
    const from = stream.last + 1 - ids.length
    return isStoredAt(from) ? stored(from) : append
  }
  if (expected === 'no-stream') {
    if (isStoredAt(0)) return stored(0)
    if (isStoredAt(stream.base)) return stored(stream.base)
    return stream.base > stream.last ? append : { kind: 'wrong-revision' }
  }
  if (expected === stream.last && expected >= 0) return append
  return expected >= 0 && isStoredAt(expected + 1) ? stored(expected + 1) : { kind: 'wrong-revision' }
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Throws a TypeError on an append that no store can accept: no events, or ids that are not UUIDs. */
export const requireWellFormed = (events: ReadonlyArray<{ readonly id: string }>): void => {
  if (events.length === 0) throw new TypeError('an append needs at least one event')
  const bad = events.find(({ id }) => !UUID.test(id))
  if (bad !== undefined) throw new TypeError(`event id "${bad.id}" is not a UUID`)
}
