import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import { apiTokenStream } from '../../domain/api-token/events.ts'
import type { User } from '../../domain/user/decider.ts'
import { userStream } from '../../domain/user/events.ts'
import type { KnownToken, TokenDirectory } from '../tokens/policies/token-directory.ts'
import type { WatchedLog } from '../log/watched-log.ts'
import type { UserDirectory } from './policies/user-directory.ts'

type Log = Pick<WatchedLog, 'isDamaged'>

/**
 * The users who may be let in. Who has a damaged event is not among them: it may have been the one that disabled or
 * deleted the user, or that ended a password.
 */
export const trustedUsers = (
  { byId, byUsernameHash }: Pick<UserDirectory, 'byId' | 'byUsernameHash'>,
  { isDamaged }: Log,
): Pick<UserDirectory, 'byId' | 'byUsernameHash'> => {
  const trusted = (user: Option<User>) => O.filter(({ userId }: User) => !isDamaged(userStream(userId)))(user)
  return { byId: (id) => trusted(byId(id)), byUsernameHash: (hash) => trusted(byUsernameHash(hash)) }
}

/** The API tokens that may let somebody in: what is damaged of the others may have switched them off. */
export const trustedTokens = (
  { byPrefix }: Pick<TokenDirectory, 'byPrefix'>,
  { isDamaged }: Log,
): Pick<TokenDirectory, 'byPrefix'> => ({
  byPrefix: (prefix) =>
    O.filter(({ tokenId }: KnownToken) => !isDamaged(apiTokenStream(tokenId)))(byPrefix(prefix)),
})
