import * as E from 'fp-ts/lib/Either.js'
import { decideBy, type DeciderByCommand } from '../shared/decider.ts'
import type { UsernameEvent } from './events.ts'

/** Id of the owner of a name. Null while the name is free. */
export type UsernameClaimState = number | null

export type UsernameCommand =
  | { readonly type: 'Claim'; readonly userId: number }
  /** Changes nothing unless the owner sends it. */
  | { readonly type: 'Free'; readonly userId: number }

export interface UsernameRefusals {
  readonly Claim: { readonly _tag: 'UsernameClaimedAlready' }
  readonly Free: never
}

/** One username. The first user who claims it owns it until it is freed. */
export const usernameClaimDecider: DeciderByCommand<
  UsernameClaimState, UsernameCommand, UsernameEvent, UsernameRefusals
> = {
  initialState: null,
  evolve: (_, event) => (event.type === 'UsernameFreed' ? null : event.data.userId),
  decide: decideBy({
    Claim: ({ userId, at }, claimant) =>
      claimant === null
        ? E.right([{ type: 'UsernameClaimed', data: { userId, at } }])
        : E.left({ _tag: 'UsernameClaimedAlready' }),
    Free: ({ userId, at }, claimant) =>
      E.right(claimant === userId ? [{ type: 'UsernameFreed', data: { userId, at } }] : []),
  }),
}
