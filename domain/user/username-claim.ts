import * as E from 'fp-ts/lib/Either.js'
import type { Decider } from '../shared/decider.ts'
import type { UsernameEvent } from './events.ts'

/** Id of the owner of a name. Null while the name is free. */
export type UsernameClaimState = number | null

/** `Free` changes nothing unless the owner sends it. */
export interface UsernameCommand {
  readonly type: 'Claim' | 'Free'
  readonly userId: number
  readonly at: string
}

export interface UsernameClaimRefusal {
  readonly _tag: 'UsernameClaimedAlready'
}

/** One username. The first user who claims it owns it until it is freed. */
export const usernameClaimDecider: Decider<UsernameClaimState, UsernameCommand, UsernameEvent, UsernameClaimRefusal> = {
  initialState: null,
  evolve: (_, event) => (event.type === 'UsernameFreed' ? null : event.data.userId),
  decide: ({ type, userId, at }, claimant) => {
    if (type === 'Free') return E.right(claimant === userId ? [{ type: 'UsernameFreed', data: { userId, at } }] : [])
    if (claimant !== null) return E.left({ _tag: 'UsernameClaimedAlready' })
    return E.right([{ type: 'UsernameClaimed', data: { userId, at } }])
  },
}
