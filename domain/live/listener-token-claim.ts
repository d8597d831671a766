import * as E from 'fp-ts/lib/Either.js'
import type { Decider } from '../shared/decider.ts'
import type { ListenerTokenClaimed } from './events.ts'

type ClaimToken = ListenerTokenClaimed['data']

interface ListenerTokenTaken {
  readonly _tag: 'ListenerTokenTaken'
}

/**
 * The first user of a custom listener token owns it permanently. The state is the owner's id, or null while the token
 * is free.
 */
export const listenerTokenClaim: Decider<number | null, ClaimToken, ListenerTokenClaimed, ListenerTokenTaken> = {
  initialState: null,
  evolve: (owner, event) => owner ?? event.data.userId,
  decide: (data, owner) => {
    if (owner === null) return E.right([{ type: 'ListenerTokenClaimed', data }])
    return owner === data.userId ? E.right([]) : E.left({ _tag: 'ListenerTokenTaken' })
  },
}
