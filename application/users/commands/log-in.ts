import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { User } from '../../../domain/user/decider.ts'
import type { TooManyRequests, Unavailable, WrongLogin } from '../../errors.ts'
import type { Credentials, TooBusy } from '../../ports/credentials.ts'
import { hasPassword, isActive } from '../known-user.ts'
import { guessedName } from '../login-throttle.ts'
import type { LoginThrottle } from '../login-throttle.ts'
import type { Rehash } from '../policies/rehash.ts'
import type { UserDirectory } from '../policies/user-directory.ts'
import { usernameHash } from '../username-claims.ts'

/** A JWT. `address`: where the attempt comes from, which is counted. */
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

/** From memory and the log: no read model is read. */
export const logIn =
  ({ directory, credentials, throttle, rehash }: LogInDeps): LogIn =>
  async (username, password, address) => {
    const hash = usernameHash(credentials, username)
    const before = await directory.byUsernameHash(hash)()
    if (E.isLeft(before)) return before
    const found = before.right
    const shown = await throttle(guessedName(hash, O.isSome(found) ? found.value.generation : 0), address, async () => {
      const now = await directory.byUsernameHash(hash)()
      if (E.isLeft(now)) return now
      const user = O.filter((known: User) => isActive(known) && hasPassword(known))(now.right)
      // Unknown and disabled users cost a verification too, so that time tells nothing.
      const passwordHash = O.map((known: User) => known.passwordHash)(user)
      const verified = await credentials.verifyPassword(password, passwordHash)()
      return E.map((isRight: boolean) => (isRight ? user : O.none))(verified)
    })
    if (E.isLeft(shown)) return shown
    if (O.isNone(shown.right)) return E.left({ _tag: 'WrongLogin' })
    rehash.begin(shown.right.value, password)
    // The generation from before the verification: should the password change meanwhile, this token is void.
    const { userId, generation } = shown.right.value
    return E.right(await credentials.signJwt({ userId, generation }))
  }
