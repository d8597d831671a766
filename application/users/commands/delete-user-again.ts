import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Unavailable } from '../../errors.ts'
import { originOf } from '../../log/origin.ts'
import { unexpected } from '../../log/unexpected.ts'
import { RESTORE_ACTOR } from '../../restore/record-restore.ts'
import { finishDeletion, markDeleted } from '../deletion.ts'
import type { DeletionDeps } from '../deletion.ts'

/** Repeats a deletion after an older log was restored. Does nothing when that log does not contain the user. */
export type DeleteUserAgain = (userId: number) => Promise<Either<Unavailable, void>>

export const deleteUserAgain =
  (deps: DeletionDeps): DeleteUserAgain =>
  async (userId) => {
    const known = await deps.directory.byId(userId)
    if (E.isLeft(known)) return known
    const user = known.right
    if (O.isNone(user)) return E.right(undefined)
    const origin = originOf(deps, RESTORE_ACTOR)
    // False, because the first deletion has already checked that another administrator remains.
    const deleted = await markDeleted(deps)(user.value, origin, false)
    if (E.isRight(deleted)) return await finishDeletion(deps)(deleted.right, origin)
    switch (deleted.left._tag) {
      case 'UserNotFound':
        return E.right(undefined)
      case 'LastAdministrator':
        throw unexpected(`user ${userId}`, deleted.left)
      default:
        return E.left(deleted.left)
    }
  }
