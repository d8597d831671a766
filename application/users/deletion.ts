import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { User } from '../../domain/user/decider.ts'
import { type LastAdministrator, type Unavailable, type UserNotFound, userNotFound } from '../refusals.ts'
import { mapRefusal } from '../log/map-refusal.ts'
import type { Origin } from '../log/origin.ts'
import { sendToUser } from '../log/send-to.ts'
import type { Position } from '../ports/event-store.ts'
import { type Projector, SESSION_LISTS, TOKEN_LISTS, USER_LISTS } from '../ports/projector.ts'
import { eraseUser, type EraseUserDeps } from './policies/erase-users.ts'
import type { UserDirectory } from './policies/user-directory.ts'

export interface DeletionDeps extends EraseUserDeps {
  readonly directory: Pick<UserDirectory, 'byId' | 'whenSeen'>
  readonly projector: Pick<Projector, 'whenProjected'>
}

/** The lists in which an operator no longer sees a deleted user, nor the sessions and API tokens of this user. */
const LISTS_OF_A_USER = [...USER_LISTS, ...SESSION_LISTS, ...TOKEN_LISTS]

/** A deleted user, and the position of `UserDeleted`. */
interface Deleted {
  readonly user: User
  readonly position: Position
}

/** Appends `UserDeleted`. Afterwards the user does not exist. */
export const markDeleted =
  (deps: DeletionDeps) =>
  async (
    user: User,
    origin: Origin,
    nobodyElseAdministers: boolean,
  ): Promise<Either<UserNotFound | LastAdministrator | Unavailable, Deleted>> => {
    const sent = await sendToUser(deps)(user.userId, { type: 'Delete', nobodyElseAdministers }, origin)
    if (E.isLeft(sent)) return E.left(mapRefusal(sent.left, { UserUnknown: userNotFound }))
    const { position } = sent.right
    return position === null ? E.left(userNotFound) : E.right({ user, position })
  }

/** Waits until the user cannot log in, then erases the user's data. After a crash `eraseUsers` completes this. */
export const finishDeletion =
  (deps: DeletionDeps) =>
  async ({ user, position }: Deleted, origin: Origin): Promise<Either<Unavailable, void>> => {
    await deps.directory.whenSeen(position)
    const erased = await eraseUser(deps)(user, origin)
    if (E.isLeft(erased)) return erased
    return E.right(await deps.projector.whenProjected(LISTS_OF_A_USER, erased.right ?? position))
  }
