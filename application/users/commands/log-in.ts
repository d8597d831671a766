import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { User } from '../../../domain/user/decider.ts'
import type { TooManyRequests, Unavailable, WrongLogin } from '../../refusals.ts'
import type { Credentials, TooBusy } from '../../ports/credentials.ts'
import { hasPassword, isActive } from '../known-user.ts'
import { type LoginThrottle, throttledName } from '../login-throttle.ts'
import type { Rehash } from '../policies/rehash.ts'
import type { UserDirectory } from '../policies/user-directory.ts'
import { usernameHash } from '../username-claims.ts'

/** Checks a password and returns a JWT. `address`: the client address, whose failed attempts are counted. */
export type LogIn = (
  username: string,
  password: string,
  address: string,
) => Promise<Either<WrongLogin | TooManyRequests | TooBusy | Unavailable, string>>

export interface LogInDeps {
  readonly directory: Pick<UserDirectory, 'byUsernameHash'>
  readonly credentials: Pick<Credentials, 'keyedHash' | 'verifyPassword' | 'signJwt'>
  readonly throttle: LoginThrottle
  readonly rehash: Pick<Rehash, 'begin'>
}

/** Uses only memory and the log, so it does not depend on the read models. */
export const logIn =
  ({ directory, credentials, throttle, rehash }: LogInDeps): LogIn =>
  async (username, password, address) => {
    const hash = usernameHash(credentials, username)
    const before = await directory.byUsernameHash(hash)
    if (E.isLeft(before)) return before
    const found = before.right
    const name = throttledName(hash, O.isSome(found) ? found.value.generation : null)
    const verifiedUser = await throttle(name, address, async () => {
      const current = await directory.byUsernameHash(hash)
      if (E.isLeft(current)) return current
      const user = O.filter((known: User) => isActive(known) && hasPassword(known))(current.right)
      // Unknown and disabled users are verified too, so the response time does not reveal them.
      const passwordHash = O.map((known: User) => known.passwordHash)(user)
      const verified = await credentials.verifyPassword(password, passwordHash)
      return E.map((isRight: boolean) => (isRight ? user : O.none))(verified)
    })
    if (E.isLeft(verifiedUser)) return verifiedUser
    if (O.isNone(verifiedUser.right)) return E.left({ _tag: 'WrongLogin' })
    rehash.begin(verifiedUser.right.value, password)
    // This generation was read before the verification, so a password change in between invalidates the token.
    const { userId, generation } = verifiedUser.right.value
    return E.right(await credentials.signJwt({ userId, generation }))
  }
