import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { Caller } from '../../caller.ts'
import type { Credentials } from '../../ports/credentials.ts'
import { callerOf, isActive } from '../known-user.ts'
import type { UserDirectory } from '../policies/user-directory.ts'

/** The caller behind a bearer token, none for anything invalid. */
export type Authenticate = (bearer: string) => Promise<Option<Caller>>

export interface AuthenticateDeps {
  readonly directory: Pick<UserDirectory, 'byId'>
  readonly credentials: Pick<Credentials, 'verifyJwt'>
}

/** From memory alone: neither store is read. */
export const authenticate =
  ({ directory, credentials }: AuthenticateDeps): Authenticate =>
  async (bearer) => {
    const claims = await credentials.verifyJwt(bearer)
    if (O.isNone(claims)) return O.none
    return pipe(
      directory.byId(claims.value.userId),
      O.filter((user) => isActive(user) && user.generation === claims.value.generation),
      O.map((user) => callerOf(user, 'jwt')),
    )
  }
