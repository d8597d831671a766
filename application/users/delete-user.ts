import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { userDecider } from '../../domain/user/decider.ts'
import type { User } from '../../domain/user/decider.ts'
import { userStream } from '../../domain/user/events.ts'
import { actorOf } from '../caller.ts'
import type { LastAdministrator, Unavailable, UserNotFound } from '../errors.ts'
import { handleCommand, loadState } from '../handle-command.ts'
import type { Origin } from '../lives/end-live.ts'
import type { Position } from '../ports/event-store.ts'
import type { Projector } from '../ports/projector.ts'
import type { Services } from '../services.ts'
import { createTurns } from '../turns.ts'
import { isActive } from './authentication.ts'
import { eraseUser } from './erase-user.ts'
import type { EraseUserDeps } from './erase-user.ts'
import type { UserDirectory } from './user-directory.ts'

export interface DeleteUserDeps extends EraseUserDeps {
  readonly directory: Pick<UserDirectory, 'ids' | 'byId' | 'whenSeen'>
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

const notFound: UserNotFound = { _tag: 'UserNotFound' }
const lastAdministrator: LastAdministrator = { _tag: 'LastAdministrator' }

const isAdministrator = (user: User): boolean => isActive(user) && user.permissions.includes('admin')

/**
 * Deletes users for good. `UserDeleted` decides: from there on nobody knows the user. What it asks for follows before
 * the answer, and where that is broken off, `startErasingUsers` does it.
 */
export const createDeleteUser = (deps: DeleteUserDeps): DeleteUser => {
  const { directory, projector, environment } = deps
  // Two administrators who delete each other at the same moment must not both succeed.
  const inTurn = createTurns()

  /** By the log: what the directory has not heard yet counts. */
  const isOtherAdministrator = async (userId: number): Promise<Either<Unavailable, boolean>> => {
    const loaded = await loadState(deps)(userStream(userId), userDecider)()
    if (E.isLeft(loaded)) return loaded
    const { state } = loaded.right
    return E.right(state.status === 'active' && isAdministrator(state))
  }

  const hasOtherAdministrator = async (userId: number): Promise<Either<Unavailable, boolean>> => {
    const others = directory.ids().filter((id) => id !== userId && O.exists(isAdministrator)(directory.byId(id)))
    for (const other of others) {
      const is = await isOtherAdministrator(other)
      if (E.isLeft(is) || is.right) return is
    }
    return E.right(false)
  }

  const markDeleted = async (user: User, origin: Origin): Promise<Either<UserNotFound | Unavailable, Deleted>> => {
    const command = { type: 'Delete', at: environment.now() } as const
    const deleted = await handleCommand(deps)({ ...origin, stream: userStream(user.userId), decider: userDecider, command })()
    if (E.isRight(deleted)) return deleted.right.position === null ? E.left(notFound) : E.right({ user, position: deleted.right.position })
    switch (deleted.left._tag) {
      case 'UserUnknown':
        return E.left(notFound)
      case 'AlreadyRegistered':
      case 'PasswordOutdated':
        throw new Error(`user ${user.userId} refused its deletion with ${deleted.left._tag}`)
      default:
        return E.left(deleted.left)
    }
  }

  const markUnlessLast = async (userId: number, origin: Origin): Promise<Either<UserNotFound | LastAdministrator | Unavailable, Deleted>> => {
    const user = directory.byId(userId)
    if (O.isNone(user)) return E.left(notFound)
    if (user.value.permissions.includes('admin')) {
      const others = await hasOtherAdministrator(userId)
      if (E.isLeft(others)) return others
      if (!others.right) return E.left(lastAdministrator)
    }
    return await markDeleted(user.value, origin)
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
      const deleted = await inTurn('administrators', () => markUnlessLast(userId, origin))
      return E.isLeft(deleted) ? deleted : await finish(deleted.right, origin)
    },

    deleteUserAgain: async (userId) => {
      const user = directory.byId(userId)
      if (O.isNone(user)) return E.right(undefined)
      const origin = originOf('service')
      const deleted = await markDeleted(user.value, origin)
      if (E.isRight(deleted)) return await finish(deleted.right, origin)
      return deleted.left._tag === 'UserNotFound' ? E.right(undefined) : E.left(deleted.left)
    },
  }
}
