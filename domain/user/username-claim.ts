import * as E from 'fp-ts/lib/Either.js'
import type { Decider } from '../shared/decider.ts'
import type { UsernameEvent } from './events.ts'

/** The user whom a name belongs to; null while it is free. */
export type UsernameClaimState = number | null

/** `Free` by anybody but the owner changes nothing. */
export interface UsernameCommand {
  readonly type: 'Claim' | 'Free'
  readonly userId: number
  readonly at: string
}

export interface UsernameClaimRefusal {
  readonly _tag: 'UsernameClaimedAlready'
}

/** One name: whoever claims it first has it, until it is freed. */
export const usernameClaimDecider: Decider<UsernameClaimState, UsernameCommand, UsernameEvent, UsernameClaimRefusal> = {
  initialState: null,
  evolve: (_, event) => (event.type === 'UsernameFreed' ? null : event.data.userId),
  decide: ({ type, userId, at }, claimant) => {
    if (type === 'Free') return E.right(claimant === userId ? [{ type: 'UsernameFreed', data: { userId, at } }] : [])
    return claimant === null ? E.right([{ type: 'UsernameClaimed', data: { userId, at } }]) : E.left({ _tag: 'UsernameClaimedAlready' })
  },
}
