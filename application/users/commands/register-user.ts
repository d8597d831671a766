import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { isUser } from '../../../domain/user/decider.ts'
import type { Permission } from '../../../domain/user/events.ts'
import type { Unavailable, UsernameTaken } from '../../refusals.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { mapRefusal } from '../../log/map-refusal.ts'
import { originOf } from '../../log/origin.ts'
import { sendToUser } from '../../log/send-to.ts'
import type { Credentials, TooBusy } from '../../ports/credentials.ts'
import { PROFILE_LISTS, type Projector, USER_LISTS } from '../../ports/projector.ts'
import type { UserView } from '../../ports/read-models.ts'
import type { Administrators } from '../administrators.ts'
import { userViewOf } from '../known-user.ts'
import { addFirstProfile } from '../policies/complete-users.ts'
import type { UserDirectory } from '../policies/user-directory.ts'
import { claimUsername, usernameHash } from '../username-claims.ts'

export interface NewUser {
  readonly username: string
  readonly password: string
  readonly permissions: ReadonlyArray<Permission>
  readonly maxSessions: number
  readonly maxTranslations: number
}

/** Registers a user and adds the first profile, `Default`. `actor`: for example `user:7` or `setup`. */
export type RegisterUser = (
  user: NewUser, actor: string,
) => Promise<Either<UsernameTaken | TooBusy | Unavailable, UserView>>

export interface RegisterUserDeps extends WriteDeps {
  readonly credentials: Pick<Credentials, 'hashPassword' | 'keyedHash'>
  readonly administrators: Pick<Administrators, 'synchronise'>
  readonly directory: Pick<UserDirectory, 'whenSeen'>
  readonly projector: Pick<Projector, 'whenProjected'>
}

/** Quotas of a new user whose request contains no quotas. */
export const DEFAULT_QUOTAS = { maxSessions: 10, maxTranslations: 5 }

const usernameTaken: UsernameTaken = { _tag: 'UsernameTaken' }

/**
 * Each step continues an earlier attempt that was interrupted. For example, a username that was claimed without a user
 * keeps its user id. If several attempts run at the same time, the user's stream accepts only one.
 */
export const registerUser =
  (deps: RegisterUserDeps): RegisterUser =>
  async ({ password, ...user }, actor) => {
    const { credentials, administrators, directory, projector } = deps
    const origin = originOf(deps, actor)
    const hash = usernameHash(credentials, user.username)
    const userId = await claimUsername(deps)(hash, origin)
    if (E.isLeft(userId)) return userId
    const passwordHash = await credentials.hashPassword(password)
    if (E.isLeft(passwordHash)) return passwordHash
    const data = {
      userId: userId.right,
      username: user.username,
      usernameHash: hash,
      passwordHash: passwordHash.right,
      permissions: user.permissions,
      maxSessions: user.maxSessions,
      maxTranslations: user.maxTranslations,
    }
    const registered = await sendToUser(deps)(userId.right, { type: 'Register', data }, origin)
    if (E.isLeft(registered)) return E.left(mapRefusal(registered.left, { AlreadyRegistered: usernameTaken }))
    const synchronised = user.permissions.includes('admin')
      ? await administrators.synchronise(userId.right, origin)
      : E.right(undefined)
    if (E.isLeft(synchronised)) return synchronised
    const profile = await addFirstProfile(deps)(userId.right, origin)
    if (E.isLeft(profile)) return profile
    const { position, state } = registered.right
    if (!isUser(state)) throw new Error(`user ${userId.right} does not exist after its registration`)
    if (position !== null) {
      // The event of the profile comes after the registration. Null: an earlier attempt added the profile.
      const last = profile.right ?? position
      const projected = projector.whenProjected([...USER_LISTS, ...PROFILE_LISTS], last)
      await Promise.all([directory.whenSeen(position), projected])
    }
    return E.right(userViewOf(state))
  }
