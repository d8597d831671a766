import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { actorOf, type Caller } from '../../caller.ts'
import { type LastAdministrator, type Unavailable, type UserNotFound, userNotFound } from '../../refusals.ts'
import { originOf } from '../../log/origin.ts'
import type { Administrators } from '../administrators.ts'
import { type DeletionDeps, finishDeletion, markDeleted } from '../deletion.ts'

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
  async (caller, userId) => {
    const origin = originOf(deps, actorOf(caller))
    const user = await deps.directory.byId(userId)
    if (E.isLeft(user)) return user
    const known = user.right
    if (O.isNone(known)) return E.left(userNotFound)
    const deleted = await deps.administrators.removeThen(userId, origin, (nobodyElseAdministers) =>
      markDeleted(deps)(known.value, origin, nobodyElseAdministers))
    return E.isLeft(deleted) ? deleted : await finishDeletion(deps)(deleted.right, origin)
  }
