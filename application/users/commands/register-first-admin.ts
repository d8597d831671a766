import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Unavailable } from '../../errors.ts'
import type { TooBusy } from '../../ports/credentials.ts'
import type { UserView } from '../../ports/read-models.ts'
import type { IsSetUp } from '../queries/is-set-up.ts'
import { DEFAULT_QUOTAS } from './register-user.ts'
import type { NewUser, RegisterUser } from './register-user.ts'

/** Who may do everything. */
export const firstAdmin = (username: string, password: string): NewUser => ({
  username,
  password,
  permissions: ['admin', 'user_retention'],
  ...DEFAULT_QUOTAS,
})

/** The first administrator from the settings; null when there is or was one, so that it can run at every start. */
export type RegisterFirstAdmin = (
  username: string,
  password: string,
) => TaskEither<TooBusy | Unavailable, UserView | null>

export interface RegisterFirstAdminDeps {
  readonly isSetUp: IsSetUp
  readonly registerUser: RegisterUser
}

export const registerFirstAdmin =
  ({ isSetUp, registerUser }: RegisterFirstAdminDeps): RegisterFirstAdmin =>
  (username, password) =>
  async () => {
    const isDone = await isSetUp()()
    if (E.isLeft(isDone)) return isDone
    if (isDone.right) return E.right(null)
    const registered = await registerUser(firstAdmin(username, password), 'setup')()
    if (E.isRight(registered)) return registered
    // Another process with the same settings was faster.
    return registered.left._tag === 'UsernameTaken' ? E.right(null) : E.left(registered.left)
  }
