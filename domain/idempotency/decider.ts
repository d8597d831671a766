import * as E from 'fp-ts/lib/Either.js'
import type { Decider } from '../shared/decider.ts'
import type { IdempotencyKeyUsed } from './events.ts'

type Use = IdempotencyKeyUsed['data']

interface KeyReused {
  readonly _tag: 'IdempotencyKeyReused'
}

/** For so long a key stands for its first request (R76); admission remembers commands for as long. */
export const KEY_LIFE_MS = 24 * 60 * 60 * 1000

/** The first use of a key, null before it. A repeated request finds the command of the first; another one is refused. */
export const idempotencyKeyDecider: Decider<Use | null, Use, IdempotencyKeyUsed, KeyReused> = {
  initialState: null,
  evolve: (_, event) => event.data,
  decide: (use, first) => {
    const isOver = first === null || Date.parse(use.at) - Date.parse(first.at) >= KEY_LIFE_MS
    if (isOver) return E.right([{ type: 'IdempotencyKeyUsed', data: use }])
    return first.requestHash === use.requestHash ? E.right([]) : E.left({ _tag: 'IdempotencyKeyReused' })
  },
}
