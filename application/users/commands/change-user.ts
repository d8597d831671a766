import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { UserChanges } from '../../../domain/user/decider.ts'
import { actorOf } from '../../caller.ts'
import type { Caller } from '../../caller.ts'
import type { LastAdministratorChanged, Unavailable, UserNotFound } from '../../errors.ts'
import { meaningOf } from '../../log/meaning-of.ts'
import { originOf } from '../../log/origin.ts'
import type { Origin } from '../../log/origin.ts'
import type { Credentials, TooBusy } from '../../ports/credentials.ts'
import type { UserView } from '../../ports/read-models.ts'
import type { Administrators } from '../administrators.ts'
import { userViewOf } from '../known-user.ts'
import { onceKnown, sendToUser } from '../user-writes.ts'
import type { Sent, UserWriteDeps } from '../user-writes.ts'

/** What an administrator changes; what is undefined stays. */
export interface ChangeUserRequest extends Omit<UserChanges, 'passwordHash'> {
  readonly password?: string | undefined
}

/**
 * All of it or nothing; the last active administrator stays one. A new password ends the user's earlier JWTs; a
 * disabled user's open lives end.
 */
export type ChangeUser = (
  caller: Caller,
  userId: number,
  request: ChangeUserRequest,
) => TaskEither<UserNotFound | LastAdministratorChanged | TooBusy | Unavailable, UserView>

export interface ChangeUserDeps extends UserWriteDeps {
  readonly credentials: Pick<Credentials, 'hashPassword'>
  readonly administrators: Administrators
  /** Ends every open live of a user who was disabled. */
  readonly endLivesOf: (userId: number, origin: Origin) => Promise<Either<Unavailable, void>>
}

const notFound: UserNotFound = { _tag: 'UserNotFound' }
const lastAdministrator: LastAdministratorChanged = { _tag: 'LastAdministratorChanged' }

const mayTakeAway = ({ permissions, isActive }: ChangeUserRequest): boolean =>
  isActive === false || permissions?.includes('admin') === false

const mayGive = ({ permissions, isActive }: ChangeUserRequest): boolean =>
  isActive === true || permissions?.includes('admin') === true

/** The answer comes once the directory and the lists know. */
export const changeUser =
  (deps: ChangeUserDeps): ChangeUser =>
  (caller, userId, { password, ...changes }) =>
  async () => {
    const { environment, credentials, directory, administrators, endLivesOf } = deps
    // Nothing is hashed for a user who does not exist.
    const known = await directory.byId(userId)()
    if (E.isLeft(known)) return known
    if (O.isNone(known.right)) return E.left(notFound)
    const hashed = password === undefined ? E.right(undefined) : await credentials.hashPassword(password)()
    if (E.isLeft(hashed)) return hashed
    const origin = originOf(deps, actorOf(caller))
    const wanted = { ...changes, passwordHash: hashed.right }
    const change = (nobodyElseAdministers: boolean): Promise<Sent> => {
      const command = { type: 'Change', changes: wanted, nobodyElseAdministers, at: environment.now() } as const
      return sendToUser(deps)(userId, command, origin)
    }
    const sent = mayTakeAway(changes) ? await administrators.takeAway(userId, origin, change) : await change(false)
    if (E.isLeft(sent)) {
      return E.left(meaningOf(`user ${userId}`, sent.left, {
        UserUnknown: notFound,
        LastAdministrator: lastAdministrator,
        PasswordOutdated: null,
        AlreadyRegistered: null,
      }))
    }
    const counted = mayGive(changes) ? await administrators.count(userId, origin)() : E.right(undefined)
    if (E.isLeft(counted)) return counted
    const user = await onceKnown(deps)(sent.right)
    if (user === null) return E.left(notFound)
    // Also when nothing changed: an earlier attempt may have been broken off between the two.
    const ended = user.status === 'disabled' ? await endLivesOf(userId, origin) : E.right(undefined)
    return E.isLeft(ended) ? ended : E.right(userViewOf(user))
  }
