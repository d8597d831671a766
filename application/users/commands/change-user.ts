import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { UserChanges } from '../../../domain/user/decider.ts'
import { actorOf, type Caller } from '../../caller.ts'
import { type LastAdministratorChanged, type Unavailable, type UserNotFound, userNotFound } from '../../refusals.ts'
import { mapRefusal } from '../../log/map-refusal.ts'
import { type Origin, originOf } from '../../log/origin.ts'
import { sendToUser } from '../../log/send-to.ts'
import type { Credentials, TooBusy } from '../../ports/credentials.ts'
import type { UserView } from '../../ports/read-models.ts'
import type { Administrators } from '../administrators.ts'
import { userViewOf } from '../known-user.ts'
import { userOnceVisible, type UserWriteDeps } from '../user-writes.ts'

/** The changes that an administrator requests. Undefined members stay unchanged. */
export interface ChangeUserRequest extends Omit<UserChanges, 'passwordHash'> {
  readonly password?: string | undefined
}

/**
 * Makes all changes or none. The last active administrator cannot be demoted or disabled. A new password invalidates
 * the user's earlier JWTs. Disabling a user ends the user's open sessions.
 */
export type ChangeUser = (
  caller: Caller,
  userId: number,
  request: ChangeUserRequest,
) => Promise<Either<UserNotFound | LastAdministratorChanged | TooBusy | Unavailable, UserView>>

export interface ChangeUserDeps extends UserWriteDeps {
  readonly credentials: Pick<Credentials, 'hashPassword'>
  readonly administrators: Administrators
  /** Ends every open session of a disabled user. */
  readonly endLivesOf: (userId: number, origin: Origin) => Promise<Either<Unavailable, void>>
}

const lastAdministrator: LastAdministratorChanged = { _tag: 'LastAdministratorChanged' }

const canRemoveAdministrator = ({ permissions, isActive }: ChangeUserRequest): boolean =>
  isActive === false || permissions?.includes('admin') === false

const canAddAdministrator = ({ permissions, isActive }: ChangeUserRequest): boolean =>
  isActive === true || permissions?.includes('admin') === true

/** Returns once the directory and the read models show the change. */
export const changeUser =
  (deps: ChangeUserDeps): ChangeUser =>
  async (caller, userId, { password, ...changes }) => {
    const { credentials, directory, administrators, endLivesOf } = deps
    // Unknown users skip hashing.
    const known = await directory.byId(userId)
    if (E.isLeft(known)) return known
    if (O.isNone(known.right)) return E.left(userNotFound)
    const hashed = password === undefined ? E.right(undefined) : await credentials.hashPassword(password)
    if (E.isLeft(hashed)) return hashed
    const origin = originOf(deps, actorOf(caller))
    const wanted = { ...changes, passwordHash: hashed.right }
    const change = (nobodyElseAdministers: boolean) =>
      sendToUser(deps)(userId, { type: 'Change', changes: wanted, nobodyElseAdministers }, origin)
    const sent = canRemoveAdministrator(changes)
      ? await administrators.removeThen(userId, origin, change)
      : await change(false)
    if (E.isLeft(sent))
      return E.left(mapRefusal(sent.left, { UserUnknown: userNotFound, LastAdministrator: lastAdministrator }))
    const synchronised = canAddAdministrator(changes)
      ? await administrators.synchronise(userId, origin)
      : E.right(undefined)
    if (E.isLeft(synchronised)) return synchronised
    const user = await userOnceVisible(deps)(sent.right)
    if (user === null) return E.left(userNotFound)
    // Ends the sessions even if this call changed nothing, because an earlier attempt may have failed before the ends.
    const ended = user.status === 'disabled' ? await endLivesOf(userId, origin) : E.right(undefined)
    return E.isLeft(ended) ? ended : E.right(userViewOf(user))
  }
