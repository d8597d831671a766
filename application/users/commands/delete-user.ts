import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import { actorOf } from '../../caller.ts'
import type { Caller } from '../../caller.ts'
import { userNotFound } from '../../errors.ts'
import type { LastAdministrator, Unavailable, UserNotFound } from '../../errors.ts'
import { originOf } from '../../log/origin.ts'
import type { Administrators } from '../administrators.ts'
import { finishDeletion, markDeleted } from '../deletion.ts'
import type { DeletionDeps } from '../deletion.ts'

/** Deletes a user: ends the open sessions, erases the keys of the user and of all sessions, and frees the name. */
export type DeleteUser = (
  caller: Caller,
  userId: number,
) => Promise<Either<UserNotFound | LastAdministrator | Unavailable, void>>

export interface DeleteUserDeps extends DeletionDeps {
  readonly administrators: Administrators
}

export const deleteUser =
  (deps: DeleteUserDeps): DeleteUser =>
  (caller, userId) => {
    const origin = originOf(deps, actorOf(caller))
    return pipe(
      () => deps.directory.byId(userId),
      TE.chainW(TE.fromOption(() => userNotFound)),
      TE.chainW((user) => () => deps.administrators.removeThen(userId, origin, (nobodyElseAdministers) =>
        markDeleted(deps)(user, origin, nobodyElseAdministers))),
      TE.chainW((deleted) => () => finishDeletion(deps)(deleted, origin)),
    )()
  }
