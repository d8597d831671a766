import type { ExpectedRevision, Revision } from '../../../application/ports/event-store.ts'

/** An event with its JSON members as text, and what `contentDigests` gives for them. */
export type EncodedEvent = readonly [id: string, type: string, data: string, metadata: string, digests: string]

const MEMBERS = 5

/**
 * An append on its way to another thread, the members of its events one after another: an object or array within would cost
 * as much to hand over as what it holds.
 */
export type FlatAppend = readonly [expected: ExpectedRevision, stream: string, ...members: ReadonlyArray<string>]

export type EventLogJob =
  | FlatAppend
  | { readonly kind: 'set-metadata'; readonly stream: string; readonly maxCount: number | null; readonly maxAgeMs: number | null }
  | { readonly kind: 'delete'; readonly stream: string }

/** Of an append: where its last event stands, or why it does not. */
export type EventLogAnswer = readonly [revision: Revision, pos: number] | { readonly actual: Revision | 'no-stream' } | 'done'

export const isAppend = (job: EventLogJob): job is FlatAppend => Array.isArray(job)

/** The events of an append. */
export const eventsOf = (append: FlatAppend): ReadonlyArray<EncodedEvent> => {
  const events: Array<EncodedEvent> = []
  for (let at = 2; at < append.length; at += MEMBERS) events.push(append.slice(at, at + MEMBERS) as unknown as EncodedEvent)
  return events
}
