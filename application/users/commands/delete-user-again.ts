import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Unavailable } from '../../refusals.ts'
import { originOf } from '../../log/origin.ts'
import { sendToUser } from '../../log/send-to.ts'
import { RESTORE_ACTOR } from '../../restore/record-restore.ts'
import { type DeletionDeps, finishDeletion } from '../deletion.ts'

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
    const deleted = await sendToUser(deps)(userId, { type: 'DeleteAgain' }, origin)
    if (E.isLeft(deleted)) return deleted.left._tag === 'UserUnknown' ? E.right(undefined) : E.left(deleted.left)
    const { position } = deleted.right
    if (position === null) return E.right(undefined)
    return await finishDeletion(deps)({ user: user.value, position }, origin)
  }
