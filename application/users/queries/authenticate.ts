import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { flow, pipe } from 'fp-ts/lib/function.js'
import type { User } from '../../../domain/user/decider.ts'
import type { Caller } from '../../caller.ts'
import type { Unavailable } from '../../refusals.ts'
import type { Credentials } from '../../ports/credentials.ts'
import { callerOf, isActive } from '../known-user.ts'
import type { LoginDirectory } from '../policies/login-directory.ts'
import type { UserDirectory } from '../policies/user-directory.ts'

/** Returns the caller of a bearer token. None: the token is invalid. Left: this cannot be determined at the moment. */
export type Authenticate = (bearer: string) => Promise<Either<Unavailable, Option<Caller>>>

export interface AuthenticateDeps {
  readonly directory: Pick<UserDirectory, 'byId'>
  readonly logins: Pick<LoginDirectory, 'isLoggedOut'>
  readonly credentials: Pick<Credentials, 'verifyJwt'>
}

/** Answers from memory for recently used users and tokens. */
export const authenticate =
  ({ directory, logins, credentials }: AuthenticateDeps): Authenticate =>
  async (bearer) => {
    const claims = await credentials.verifyJwt(bearer)
    if (O.isNone(claims)) return E.right(O.none)
    const { userId, generation, tokenId, expiresAt } = claims.value
    const isLoggedOut = await logins.isLoggedOut(tokenId)
    if (E.isLeft(isLoggedOut)) return isLoggedOut
    if (isLoggedOut.right) return E.right(O.none)
    const found = await directory.byId(userId)
    const isStillValid = (user: User) => isActive(user) && user.generation === generation
    const login = { tokenId, expiresAt }
    const caller = flow(O.filter(isStillValid), O.map((user: User) => ({ ...callerOf(user, 'jwt'), login })))
    return pipe(found, E.map(caller))
  }
