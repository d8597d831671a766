import * as E from 'fp-ts/lib/Either.js'
import type { Decider } from '../shared/decider.ts'
import type { LoggedOut } from './events.ts'

/** One login token. The state is true once the token is logged out. */
export const loginTokenDecider: Decider<boolean, LoggedOut['data'], LoggedOut, never> = {
  initialState: false,
  evolve: () => true,
  decide: (data, isLoggedOut) => E.right(isLoggedOut ? [] : [{ type: 'LoggedOut', data }]),
}
