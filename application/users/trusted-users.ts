import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { User } from '../../domain/user/decider.ts'
import { userStream } from '../../domain/user/events.ts'
import type { WatchedLog } from '../log/watched-log.ts'
import type { UserDirectory } from './policies/user-directory.ts'

/**
 * Excludes users with damaged events. A damaged event may have disabled or deleted the user, or changed the password.
 */
export const trustedUsers = (
  { byId, byUsernameHash }: Pick<UserDirectory, 'byId' | 'byUsernameHash'>,
  { isDamaged }: Pick<WatchedLog, 'isDamaged'>,
): Pick<UserDirectory, 'byId' | 'byUsernameHash'> => {
  const isTrusted = ({ userId }: User): boolean => !isDamaged(userStream(userId))
  return {
    byId: async (userId) => pipe(await byId(userId), E.map(O.filter(isTrusted))),
    byUsernameHash: async (hash) => pipe(await byUsernameHash(hash), E.map(O.filter(isTrusted))),
  }
}
