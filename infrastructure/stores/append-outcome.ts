import type { ExpectedRevision, Revision } from '../../application/ports/event-store.ts'

/** A stream as an append finds it. */
export interface StreamState {
  /** Last revision, -1 when nothing was ever appended. */
  readonly last: Revision
  /** Revision of the first event after the last deletion: above `last` while the stream is deleted or was never written. */
  readonly base: Revision
  readonly idAt: (revision: Revision) => string | undefined
}

export type AppendOutcome =
  | { readonly kind: 'append'; readonly from: Revision }
  /** These very events stand there already, the last of them at `last`. */
  | { readonly kind: 'stored'; readonly last: Revision }
  | { readonly kind: 'wrong-revision' }

/**
 * What becomes of an append, as EventStoreDB decides it: the ids are compared at expected+1 onward before a wrong
 * revision is reported, so that a retry is answered like the first try. With `any` only the stream's last events
 * are compared. Data is never compared.
 */
export const outcomeOfAppend = (stream: StreamState, expected: ExpectedRevision, ids: ReadonlyArray<string>): AppendOutcome => {
  const standsAt = (from: Revision): boolean =>
    from >= 0 && from + ids.length - 1 <= stream.last && ids.every((id, index) => stream.idAt(from + index) === id)
  const stored = (from: Revision): AppendOutcome => ({ kind: 'stored', last: from + ids.length - 1 })
  const append: AppendOutcome = { kind: 'append', from: stream.last + 1 }

  if (expected === 'any') {
    const from = stream.last + 1 - ids.length
    return standsAt(from) ? stored(from) : append
  }
  if (expected === 'no-stream') {
    if (standsAt(0)) return stored(0)
    if (standsAt(stream.base)) return stored(stream.base)
    return stream.base > stream.last ? append : { kind: 'wrong-revision' }
  }
  if (expected === stream.last && expected >= 0) return append
  return expected >= 0 && standsAt(expected + 1) ? stored(expected + 1) : { kind: 'wrong-revision' }
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Throws on an append that no store takes (a defect of the caller): none at all, or ids that are not UUIDs. */
export const requireWellFormed = (events: ReadonlyArray<{ readonly id: string }>): void => {
  if (events.length === 0) throw new TypeError('an append needs at least one event')
  const bad = events.find(({ id }) => !UUID.test(id))
  if (bad !== undefined) throw new TypeError(`event id "${bad.id}" is not a UUID`)
}
