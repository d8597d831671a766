import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { pipe } from 'fp-ts/lib/function.js'
import { ERASED } from '../../../domain/shared/event.ts'
import type { User } from '../../../domain/user/decider.ts'
import type { Caller } from '../../caller.ts'
import type { Credentials } from '../../ports/credentials.ts'
import type { Services } from '../../services.ts'
import { guessedName } from '../login-throttle.ts'
import type { LoginThrottle } from '../login-throttle.ts'
import type { Rehash } from '../policies/rehash.ts'
import type { UserDirectory } from '../policies/user-directory.ts'

export interface AuthenticationDeps {
  readonly directory: Pick<UserDirectory, 'byId' | 'byUsernameHash'>
  readonly credentials: Credentials
  readonly throttle: LoginThrottle
  readonly rehash: Pick<Rehash, 'begin'>
}

/** Under which a username is claimed and found: exact case, canonical form, so that one name is one name on every keyboard. */
export const usernameHash = (credentials: Pick<Credentials, 'keyedHash'>, username: string): string =>
  credentials.keyedHash('username', username.normalize('NFC'))

export const isActive = (user: User): boolean => user.status === 'active'

/** An erased password is none: what it reads as is not the hash of anything. */
export const hasPassword = (user: User): boolean => user.passwordHash !== ERASED

export const callerOf = (user: User, credential: Caller['credential']): Caller => ({
  userId: user.userId,
  permissions: user.permissions,
  maxSessions: user.maxSessions,
  maxTranslations: user.maxTranslations,
  credential,
})

/** Who is asking, from memory alone: no read model is read, and the log only for how often a login failed. */
export const createAuthentication = ({ directory, credentials, throttle, rehash }: AuthenticationDeps): Pick<Services, 'login' | 'authenticate'> => ({
  login: async (username, password, address) => {
    const hash = usernameHash(credentials, username)
    const found = directory.byUsernameHash(hash)
    const shown = await throttle(guessedName(hash, O.isSome(found) ? found.value.generation : 0), address, async () => {
      const user = O.filter((known: User) => isActive(known) && hasPassword(known))(directory.byUsernameHash(hash))
      // Unknown and disabled users cost a verification too, so that time tells nothing (R28).
      const verified = await credentials.verifyPassword(password, O.map(({ passwordHash }: User) => passwordHash)(user))()
      return E.map((isRight: boolean) => (isRight ? user : O.none))(verified)
    })
    if (E.isLeft(shown)) return shown
    if (O.isNone(shown.right)) return E.left({ _tag: 'WrongLogin' })
    rehash.begin(shown.right.value, password)
    // The generation from before the verification: should the password change meanwhile, this token is void.
    const { userId, generation } = shown.right.value
    return E.right(await credentials.signJwt({ userId, generation }))
  },

  authenticate: async (bearer) => {
    const claims = await credentials.verifyJwt(bearer)
    if (O.isNone(claims)) return O.none
    return pipe(
      directory.byId(claims.value.userId),
      O.filter((user) => isActive(user) && user.generation === claims.value.generation),
      O.map((user) => callerOf(user, 'jwt')),
    )
  },
})
