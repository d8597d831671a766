import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { Unavailable } from '../../refusals.ts'
import type { TooBusy } from '../../ports/credentials.ts'
import type { UserView } from '../../ports/read-models.ts'
import type { IsSetUp } from '../queries/is-set-up.ts'
import { DEFAULT_QUOTAS, type NewUser, type RegisterUser } from './register-user.ts'

export const firstAdmin = (username: string, password: string): NewUser => ({
  username,
  password,
  permissions: ['admin', 'user_retention'],
  ...DEFAULT_QUOTAS,
})

/**
 * Registers the first administrator from the settings. Returns null when an administrator exists or existed, so it can
 * run at every start.
 */
export type RegisterFirstAdmin = (
  username: string,
  password: string,
) => Promise<Either<TooBusy | Unavailable, UserView | null>>

export interface RegisterFirstAdminDeps {
  readonly isSetUp: IsSetUp
  readonly registerUser: RegisterUser
}

export const registerFirstAdmin =
  ({ isSetUp, registerUser }: RegisterFirstAdminDeps): RegisterFirstAdmin =>
  async (username, password) => {
    const isDone = await isSetUp()
    if (E.isLeft(isDone)) return isDone
    if (isDone.right) return E.right(null)
    return pipe(
      await registerUser(firstAdmin(username, password), 'setup'),
      // The name is taken when another process with the same settings was faster.
      E.orElseW((refusal) => (refusal._tag === 'UsernameTaken' ? E.right(null) : E.left(refusal))),
    )
  }
