import * as t from 'io-ts'
import { id, instant } from '../shared/codecs.ts'
import { defineEvent, type EventOf } from '../shared/event.ts'

/** `keyHash`: keyed hash of the user id and the key. */
export const idempotencyStream = (keyHash: string): string => `idem-${keyHash}`

/** A request with an Idempotency-Key began. Its session is created under `commandId`. */
export const IdempotencyKeyUsed = defineEvent(
  'IdempotencyKeyUsed',
  t.strict({
    userId: id,
    commandId: t.string,
    /** Keyed hash of the decoded request. */
    requestHash: t.string,
    at: instant,
  }),
)
export type IdempotencyKeyUsed = EventOf<typeof IdempotencyKeyUsed>

/** The request got a session id. If that session could not be created, a later event holds the next id. */
export const IdempotencyKeyAdmitted = defineEvent('IdempotencyKeyAdmitted', t.strict({ liveId: id, at: instant }))
export type IdempotencyKeyAdmitted = EventOf<typeof IdempotencyKeyAdmitted>
