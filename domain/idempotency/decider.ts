import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Decider } from '../shared/decider.ts'
import type { IdempotencyKeyAdmitted, IdempotencyKeyUsed } from './events.ts'

/** The request that used a key first, and its session. */
interface KeyState {
  readonly use: IdempotencyKeyUsed['data']
  /** Null until the request has a session id. */
  readonly liveId: number | null
}

/** Records that a request created a session. `before`: the session that was recorded when the command was sent. */
export interface IdempotencyKeyCommand {
  readonly use: IdempotencyKeyUsed['data']
  readonly liveId: number
  readonly before: number | null
}

type Refusal =
  | { readonly _tag: 'IdempotencyKeyReused' }
  /** Another request with this key has stored its own session id in the meantime. */
  | { readonly _tag: 'RequestStillRunning' }

type KeyEvent = IdempotencyKeyUsed | IdempotencyKeyAdmitted

/** After this time a key can be used for another request. */
export const KEY_LIFETIME_MS = 24 * 60 * 60 * 1000

/** Returns the use of a key that counts at this time. Null: the key is free. */
export const currentUse = (state: KeyState | null, at: string): KeyState | null =>
  state === null || Date.parse(at) - Date.parse(state.use.at) >= KEY_LIFETIME_MS ? null : state

const decide = (
  { use, liveId, before }: IdempotencyKeyCommand,
  state: KeyState | null,
): Either<Refusal, ReadonlyArray<KeyEvent>> => {
  const admitted: IdempotencyKeyAdmitted = { type: 'IdempotencyKeyAdmitted', data: { liveId, at: use.at } }
  const current = currentUse(state, use.at)
  if (current === null) return E.right([{ type: 'IdempotencyKeyUsed', data: use }, admitted])
  if (current.use.requestHash !== use.requestHash) return E.left({ _tag: 'IdempotencyKeyReused' })
  if (current.liveId === liveId) return E.right([])
  return current.liveId === before ? E.right([admitted]) : E.left({ _tag: 'RequestStillRunning' })
}

/**
 * One Idempotency-Key of one user, and the session of its request. A different request with the same key is refused.
 * The state is null until the first use.
 */
export const idempotencyKeyDecider: Decider<KeyState | null, IdempotencyKeyCommand, KeyEvent, Refusal> = {
  initialState: null,
  evolve: (state, event) => {
    if (event.type === 'IdempotencyKeyUsed') return { use: event.data, liveId: null }
    return state === null ? null : { ...state, liveId: event.data.liveId }
  },
  decide,
}
