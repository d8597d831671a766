import * as E from 'fp-ts/lib/Either.js'
import type { Decider } from '../shared/decider.ts'
import type { UsernameClaimed } from './events.ts'

/** The user whom a name belongs to; null while it is free. */
export type UsernameClaimState = number | null

export type ClaimUsername = UsernameClaimed['data']

export interface UsernameClaimRefusal {
  readonly _tag: 'UsernameClaimedAlready'
}

/** One name: whoever claims it first has it. */
export const usernameClaimDecider: Decider<UsernameClaimState, ClaimUsername, UsernameClaimed, UsernameClaimRefusal> = {
  initialState: null,
  evolve: (_, event) => event.data.userId,
  decide: (data, claimant) =>
    claimant === null ? E.right([{ type: 'UsernameClaimed', data }]) : E.left({ _tag: 'UsernameClaimedAlready' }),
}
