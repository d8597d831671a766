import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { User } from '../../domain/user/decider.ts'
import type { LastAdministrator, Unavailable, UserNotFound } from '../errors.ts'
import { meaningOf } from '../log/meaning-of.ts'
import type { Origin } from '../log/origin.ts'
import type { Position } from '../ports/event-store.ts'
import type { Projector } from '../ports/projector.ts'
import { eraseUser } from './policies/erase-users.ts'
import type { EraseUserDeps } from './policies/erase-users.ts'
import type { UserDirectory } from './policies/user-directory.ts'
import { sendToUser } from './user-writes.ts'

export interface DeletionDeps extends EraseUserDeps {
  readonly directory: Pick<UserDirectory, 'byId' | 'whenSeen'>
  readonly projector: Pick<Projector, 'whenProjected'>
}

interface Deleted {
  readonly user: User
  readonly position: Position
}

const notFound: UserNotFound = { _tag: 'UserNotFound' }
const lastAdministrator: LastAdministrator = { _tag: 'LastAdministrator' }

/** `UserDeleted` decides: from there on nobody knows the user. */
export const markDeleted =
  (deps: DeletionDeps) =>
  (
    user: User,
    origin: Origin,
    nobodyElseAdministers: boolean,
  ): TaskEither<UserNotFound | LastAdministrator | Unavailable, Deleted> =>
  async () => {
    const command = { type: 'Delete', nobodyElseAdministers, at: deps.environment.now() } as const
    const deleted = await sendToUser(deps)(user.userId, command, origin)
    if (E.isLeft(deleted)) {
      return E.left(meaningOf(`user ${user.userId}`, deleted.left, {
        UserUnknown: notFound,
        LastAdministrator: lastAdministrator,
        AlreadyRegistered: null,
        PasswordOutdated: null,
      }))
    }
    const { position } = deleted.right
    return position === null ? E.left(notFound) : E.right({ user, position })
  }

/** Nobody can log in as the user any more; then all the rest. Where that is broken off, `eraseUsers` does it. */
export const finishDeletion =
  (deps: DeletionDeps) =>
  ({ user, position }: Deleted, origin: Origin): TaskEither<Unavailable, void> =>
  async () => {
    await deps.directory.whenSeen(position)
    const erased = await eraseUser(deps)(user, origin)()
    if (E.isLeft(erased)) return erased
    await deps.projector.whenProjected(erased.right ?? position)
    return E.right(undefined)
  }
