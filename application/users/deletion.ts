import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { User } from '../../domain/user/decider.ts'
import { userNotFound } from '../errors.ts'
import type { LastAdministrator, Unavailable, UserNotFound } from '../errors.ts'
import { mapRefusal } from '../log/map-refusal.ts'
import type { Origin } from '../log/origin.ts'
import type { Position } from '../ports/event-store.ts'
import { SESSION_LISTS, TOKEN_LISTS, USER_LISTS } from '../ports/projector.ts'
import type { Projector } from '../ports/projector.ts'
import { eraseUser } from './policies/erase-users.ts'
import type { EraseUserDeps } from './policies/erase-users.ts'
import type { UserDirectory } from './policies/user-directory.ts'
import { sendToUser } from './user-writes.ts'

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

const lastAdministrator: LastAdministrator = { _tag: 'LastAdministrator' }

/** Appends `UserDeleted`. Afterwards the user does not exist. */
export const markDeleted =
  (deps: DeletionDeps) =>
  (
    user: User,
    origin: Origin,
    nobodyElseAdministers: boolean,
  ): Promise<Either<UserNotFound | LastAdministrator | Unavailable, Deleted>> =>
    pipe(
      () =>
        sendToUser(deps)(user.userId, { type: 'Delete', nobodyElseAdministers, at: deps.environment.now() }, origin),
      TE.mapLeft((refusal) => mapRefusal(`user ${user.userId}`, refusal, {
        UserUnknown: userNotFound,
        LastAdministrator: lastAdministrator,
        AlreadyRegistered: null,
        PasswordOutdated: null,
      })),
      TE.chainW(({ position }) => (position === null ? TE.left(userNotFound) : TE.right({ user, position }))),
    )()

/** Waits until the user cannot log in, then erases the user's data. After a crash `eraseUsers` completes this. */
export const finishDeletion =
  (deps: DeletionDeps) =>
  ({ user, position }: Deleted, origin: Origin): Promise<Either<Unavailable, void>> =>
    pipe(
      TE.fromTask(() => deps.directory.whenSeen(position)),
      TE.chainW(() => () => eraseUser(deps)(user, origin)),
      TE.chainTaskK((erasedAt) => () => deps.projector.whenProjected(LISTS_OF_A_USER, erasedAt ?? position)),
    )()
