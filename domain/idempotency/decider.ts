import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Decider } from '../shared/decider.ts'
import type { IdempotencyKeyAdmitted, IdempotencyKeyUsed } from './events.ts'

/** What a key stands for. */
interface KeyState {
  readonly use: IdempotencyKeyUsed['data']
  /** The live that is created, or was; null before there is one. */
  readonly liveId: number | null
}

export type IdempotencyKeyCommand =
  | ({ readonly type: 'Use' } & IdempotencyKeyUsed['data'])
  /** `before` is the live that the key stood for when the request looked. */
  | { readonly type: 'Admit'; readonly liveId: number; readonly before: number | null; readonly at: string }

type Refusal =
  | { readonly _tag: 'IdempotencyKeyReused' }
  /** Another request with the key has noted a live of its own since. */
  | { readonly _tag: 'RequestStillRunning' }

type KeyEvent = IdempotencyKeyUsed | IdempotencyKeyAdmitted

/** For so long a key stands for its first request (R76). */
export const KEY_LIFE_MS = 24 * 60 * 60 * 1000

const decide = (command: IdempotencyKeyCommand, state: KeyState | null): Either<Refusal, ReadonlyArray<KeyEvent>> => {
  if (command.type === 'Admit') {
    const { liveId, before, at } = command
    if (state?.liveId === liveId) return E.right([])
    return state?.liveId === before
      ? E.right([{ type: 'IdempotencyKeyAdmitted', data: { liveId, at } }])
      : E.left({ _tag: 'RequestStillRunning' })
  }
  const { type: _, ...use } = command
  const isOver = state === null || Date.parse(use.at) - Date.parse(state.use.at) >= KEY_LIFE_MS
  if (isOver) return E.right([{ type: 'IdempotencyKeyUsed', data: use }])
  return state.use.requestHash === use.requestHash ? E.right([]) : E.left({ _tag: 'IdempotencyKeyReused' })
}

/**
 * The first use of a key and its live, null before it. A repeated request finds the command of the first; another one
 * is refused.
 */
export const idempotencyKeyDecider: Decider<KeyState | null, IdempotencyKeyCommand, KeyEvent, Refusal> = {
  initialState: null,
  evolve: (state, event) => {
    if (event.type === 'IdempotencyKeyUsed') return { use: event.data, liveId: null }
    return state === null ? null : { ...state, liveId: event.data.liveId }
  },
  decide,
}
