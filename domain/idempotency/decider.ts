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

export type IdempotencyKeyCommand =
  | ({ readonly type: 'Use' } & IdempotencyKeyUsed['data'])
  /** Stores the session id of the request. `before`: the id that was stored when the sender of the command read it. */
  | { readonly type: 'Admit'; readonly liveId: number; readonly before: number | null; readonly at: string }

type Refusal =
  | { readonly _tag: 'IdempotencyKeyReused' }
  /** Another request with this key has stored its own session id in the meantime. */
  | { readonly _tag: 'RequestStillRunning' }

type KeyEvent = IdempotencyKeyUsed | IdempotencyKeyAdmitted

/** After this time a key can be used for another request. */
export const KEY_LIFETIME_MS = 24 * 60 * 60 * 1000

const decide = (command: IdempotencyKeyCommand, state: KeyState | null): Either<Refusal, ReadonlyArray<KeyEvent>> => {
  if (command.type === 'Admit') {
    const { liveId, before, at } = command
    if (state?.liveId === liveId) return E.right([])
    return state?.liveId === before
      ? E.right([{ type: 'IdempotencyKeyAdmitted', data: { liveId, at } }])
      : E.left({ _tag: 'RequestStillRunning' })
  }
  const { type: _, ...use } = command
  const isFree = state === null || Date.parse(use.at) - Date.parse(state.use.at) >= KEY_LIFETIME_MS
  if (isFree) return E.right([{ type: 'IdempotencyKeyUsed', data: use }])
  return state.use.requestHash === use.requestHash ? E.right([]) : E.left({ _tag: 'IdempotencyKeyReused' })
}

/**
 * One Idempotency-Key of one user. A repeat of the first request continues the first command. A different request with
 * the same key is refused. The state is null until the first use.
 */
export const idempotencyKeyDecider: Decider<KeyState | null, IdempotencyKeyCommand, KeyEvent, Refusal> = {
  initialState: null,
  evolve: (state, event) => {
    if (event.type === 'IdempotencyKeyUsed') return { use: event.data, liveId: null }
    return state === null ? null : { ...state, liveId: event.data.liveId }
  },
  decide,
}
