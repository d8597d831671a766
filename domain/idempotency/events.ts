import * as t from 'io-ts'
import { id, instant } from '../shared/codecs.ts'
import { defineEvent } from '../shared/event.ts'
import type { EventOf } from '../shared/event.ts'

/** What one user made with one key; both are hidden in a keyed hash. */
export const idempotencyStream = (keyHash: string): string => `idem-${keyHash}`

/** A request with an Idempotency-Key began: whatever comes of it is named after `commandId`. */
export const IdempotencyKeyUsed = defineEvent(
  'IdempotencyKeyUsed',
  t.strict({
    userId: id,
    commandId: t.string,
    /** Keyed hash of the request as it was understood. */
    requestHash: t.string,
    at: instant,
  }),
)
export type IdempotencyKeyUsed = EventOf<typeof IdempotencyKeyUsed>

/** That request was given the number of a live, which is created next; a later one counts where that came to nothing. */
export const IdempotencyKeyAdmitted = defineEvent('IdempotencyKeyAdmitted', t.strict({ liveId: id, at: instant }))
export type IdempotencyKeyAdmitted = EventOf<typeof IdempotencyKeyAdmitted>
