import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { actorOf } from '../../caller.ts'
import type { Caller } from '../../caller.ts'
import type { LastAdministrator, Unavailable, UserNotFound } from '../../errors.ts'
import { originOf } from '../../log/origin.ts'
import type { Administrators } from '../administrators.ts'
import { finishDeletion, markDeleted } from '../deletion.ts'
import type { DeletionDeps } from '../deletion.ts'

/** For good: ends the open lives, destroys all keys of the user and of the lives, frees the name. */
export type DeleteUser = (
  caller: Caller,
  userId: number,
) => TaskEither<UserNotFound | LastAdministrator | Unavailable, void>

export interface DeleteUserDeps extends DeletionDeps {
  readonly administrators: Administrators
}

export const deleteUser =
  (deps: DeleteUserDeps): DeleteUser =>
  (caller, userId) =>
  async () => {
    const origin = originOf(deps, actorOf(caller))
    const known = await deps.directory.byId(userId)()
    if (E.isLeft(known)) return known
    const user = known.right
    if (O.isNone(user)) return E.left({ _tag: 'UserNotFound' })
    const mark = (alone: boolean) => markDeleted(deps)(user.value, origin, alone)()
    const deleted = await deps.administrators.takeAway(userId, origin, mark)
    return E.isLeft(deleted) ? deleted : await finishDeletion(deps)(deleted.right, origin)()
  }
