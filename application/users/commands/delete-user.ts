import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { userDecider } from '../../../domain/user/decider.ts'
import type { User } from '../../../domain/user/decider.ts'
import { userStream } from '../../../domain/user/events.ts'
import { actorOf } from '../../caller.ts'
import type { LastAdministrator, Unavailable, UserNotFound } from '../../errors.ts'
import { handleCommand } from '../../log/handle-command.ts'
import type { Origin } from '../../log/origin.ts'
import type { Position } from '../../ports/event-store.ts'
import type { Projector } from '../../ports/projector.ts'
import type { Services } from '../../services.ts'
import type { Administrators } from '../administrators.ts'
import { eraseUser } from '../policies/erase-user.ts'
import type { EraseUserDeps } from '../policies/erase-user.ts'
import type { UserDirectory } from '../policies/user-directory.ts'

export interface DeleteUserDeps extends EraseUserDeps {
  readonly directory: Pick<UserDirectory, 'byId' | 'whenSeen'>
  readonly administrators: Administrators
  readonly projector: Pick<Projector, 'whenProjected'>
}

export interface DeleteUser extends Pick<Services, 'deleteUser'> {
  /** A deletion that an older copy of the log does not know; nothing to do for a user whom that does not know either. */
  readonly deleteUserAgain: (userId: number) => Promise<Either<Unavailable, void>>
}

interface Deleted {
  readonly user: User
  readonly position: Position
}

type Marked = Either<UserNotFound | LastAdministrator | Unavailable, Deleted>

const notFound: UserNotFound = { _tag: 'UserNotFound' }
const lastAdministrator: LastAdministrator = { _tag: 'LastAdministrator' }

/**
 * Deletes users for good. `UserDeleted` decides: from there on nobody knows the user. What it asks for follows before
 * the answer, and where that is broken off, `startErasingUsers` does it.
 */
export const createDeleteUser = (deps: DeleteUserDeps): DeleteUser => {
  const { directory, projector, environment } = deps
  const markDeleted = async (user: User, origin: Origin, nobodyElseAdministers: boolean): Promise<Marked> => {
    const command = { type: 'Delete', nobodyElseAdministers, at: environment.now() } as const
    const deleted = await handleCommand(deps)({ ...origin, stream: userStream(user.userId), decider: userDecider, command })()
    if (E.isRight(deleted)) return deleted.right.position === null ? E.left(notFound) : E.right({ user, position: deleted.right.position })
    switch (deleted.left._tag) {
      case 'UserUnknown':
        return E.left(notFound)
      case 'LastAdministrator':
        return E.left(lastAdministrator)
      case 'AlreadyRegistered':
      case 'PasswordOutdated':
        throw new Error(`user ${user.userId} refused its deletion with ${deleted.left._tag}`)
      default:
        return E.left(deleted.left)
    }
  }

  /** Nobody can log in as the user any more; then all the rest. */
  const finish = async ({ user, position }: Deleted, origin: Origin): Promise<Either<Unavailable, void>> => {
    await directory.whenSeen(position)
    const erased = await eraseUser(deps, user, origin)
    if (E.isLeft(erased)) return erased
    await projector.whenProjected(erased.right ?? position)
    return E.right(undefined)
  }

  const originOf = (actor: string): Origin => {
    const commandId = environment.newId()
    return { commandId, correlationId: commandId, actor }
  }

  return {
    deleteUser: (caller, userId) => async () => {
      const origin = originOf(actorOf(caller))
      const user = directory.byId(userId)
      if (O.isNone(user)) return E.left(notFound)
      const deleted = await deps.administrators.takeAway(userId, (alone) => markDeleted(user.value, origin, alone))
      return E.isLeft(deleted) ? deleted : await finish(deleted.right, origin)
    },

    deleteUserAgain: async (userId) => {
      const user = directory.byId(userId)
      if (O.isNone(user)) return E.right(undefined)
      const origin = originOf('service')
      // It was decided when it was first made.
      const deleted = await markDeleted(user.value, origin, false)
      if (E.isRight(deleted)) return await finish(deleted.right, origin)
      switch (deleted.left._tag) {
        case 'UserNotFound':
          return E.right(undefined)
        case 'LastAdministrator':
          throw new Error(`user ${userId} refused its deletion with LastAdministrator`)
        default:
          return E.left(deleted.left)
      }
    },
  }
}
