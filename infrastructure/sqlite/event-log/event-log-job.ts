import type { ExpectedRevision, Revision } from '../../../application/ports/event-store.ts'

/** An event with its JSON members as text, and their `contentDigests`. */
export type EncodedEvent = readonly [id: string, type: string, data: string, metadata: string, digests: string]

const MEMBERS = 5

/**
 * An append for another thread, as one flat list of the members of its events. Nested objects or arrays would double
 * the cost of passing it.
 */
export type FlatAppend = readonly [expected: ExpectedRevision, stream: string, ...members: ReadonlyArray<string>]

export type EventLogJob =
  | FlatAppend
  | {
      readonly kind: 'set-metadata'
      readonly stream: string
      readonly maxCount: number | null
      readonly maxAgeMs: number | null
    }
  | { readonly kind: 'delete'; readonly stream: string }

/** For an append: revision and row of its last event, or the actual revision when the expected revision is wrong. */
export type EventLogAnswer =
  | readonly [revision: Revision, pos: number]
  | { readonly actual: Revision | 'no-stream' }
  | 'done'

export const isAppend = (job: EventLogJob): job is FlatAppend => Array.isArray(job)

export const eventsOf = (append: FlatAppend): ReadonlyArray<EncodedEvent> => {
  const events: Array<EncodedEvent> = []
  for (let at = 2; at < append.length; at += MEMBERS)
    events.push(append.slice(at, at + MEMBERS) as unknown as EncodedEvent)
  return events
}
