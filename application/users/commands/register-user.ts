import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { DEFAULT_ENGINE_SETTINGS } from '../../../domain/live/settings.ts'
import { profilesStream } from '../../../domain/profiles/events.ts'
import { FIRST_PROFILE_NAME, firstProfileDecider } from '../../../domain/profiles/first-profile.ts'
import { isUser, userDecider } from '../../../domain/user/decider.ts'
import type { User } from '../../../domain/user/decider.ts'
import { usernameStream, userStream } from '../../../domain/user/events.ts'
import type { UserRegistered } from '../../../domain/user/events.ts'
import { usernameClaimDecider } from '../../../domain/user/username-claim.ts'
import type { EventOf } from '../../../domain/shared/event.ts'
import { usernameHash } from '../queries/authenticate.ts'
import { isHurt } from '../../errors.ts'
import type { Unavailable, UsernameTaken } from '../../errors.ts'
import { handleCommand, loadState } from '../../log/handle-command.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import type { Credentials } from '../../ports/credentials.ts'
import type { Position } from '../../ports/event-store.ts'
import type { Projector } from '../../ports/projector.ts'
import type { UserView } from '../../ports/read-models.ts'
import { nextId } from '../../log/next-id.ts'
import type { Services } from '../../services.ts'
import type { UserDirectory } from '../policies/user-directory.ts'

export interface UserDeps extends WriteDeps {
  readonly credentials: Pick<Credentials, 'hashPassword' | 'keyedHash'>
  readonly directory: Pick<UserDirectory, 'whenSeen' | 'ids'>
  readonly projector: Pick<Projector, 'whenProjected'>
}

export interface Users extends Pick<Services, 'registerUser'> {
  /** Gives every known user without a profile the first one, and says how many that were; costs nothing when repeated. */
  readonly ensureFirstProfiles: () => TaskEither<Unavailable, number>
}

/** D11: what a user may do unless told otherwise. */
export const DEFAULT_QUOTAS = { maxSessions: 10, maxTranslations: 5 }

/** An erased user needs no profile, and of one who cannot be read the others hear nothing. */
const canWait = (left: Unavailable): boolean => left._tag === 'KeyErased' || left._tag === 'KeyMissing' || isHurt(left)

/** Who did it, as the metadata of all its events say. */
interface Cause {
  readonly commandId: string
  readonly actor: string
}

type Registration = EventOf<typeof UserRegistered>['data']

const usernameTaken: UsernameTaken = { _tag: 'UsernameTaken' }

/** A user as administrators and the user see it: nothing of the password. */
export const userViewOf = (user: User): UserView => ({
  id: user.userId,
  username: user.username,
  permissions: user.permissions,
  maxSessions: user.maxSessions,
  maxTranslations: user.maxTranslations,
  isActive: user.status === 'active',
  createdAt: user.createdAt,
  updatedAt: user.updatedAt,
})

export const createUsers = (deps: UserDeps): Users => {
  const { environment, credentials, directory, projector } = deps
  const handle = handleCommand(deps)
  const takeId = nextId(deps)
  const about = ({ commandId, actor }: Cause) => ({ commandId, actor, correlationId: commandId })

  /** The id that the name stands for, claimed now or by a registration that never got further. */
  const claim = async (hash: string, cause: Cause): Promise<Either<UsernameTaken | Unavailable, number>> => {
    const stream = usernameStream(hash)
    const claimed = await loadState(deps)(stream, usernameClaimDecider)()
    if (E.isLeft(claimed)) return claimed
    if (claimed.right.state !== null) {
      const owner = await loadState(deps)(userStream(claimed.right.state), userDecider)()
      if (E.isLeft(owner)) return owner
      return owner.right.state.status === 'none' ? E.right(claimed.right.state) : E.left(usernameTaken)
    }
    const metadata = { correlationId: cause.commandId, causationId: cause.commandId, actor: cause.actor }
    const userId = await takeId('user', metadata)()
    if (E.isLeft(userId)) return userId
    const command = { type: 'Claim', userId: userId.right, at: environment.now() } as const
    const won = await handle({ stream, decider: usernameClaimDecider, command, ...about(cause) })()
    if (E.isRight(won)) return userId
    return won.left._tag === 'UsernameClaimedAlready' ? E.left(usernameTaken) : E.left(won.left)
  }

  /** The position of its event, null where the user had one. */
  const addFirstProfile = async (userId: number, cause: Cause): Promise<Either<Unavailable, Position | null>> => {
    const metadata = { correlationId: cause.commandId, causationId: cause.commandId, actor: cause.actor }
    const profileId = await takeId('profile', metadata)()
    if (E.isLeft(profileId)) return profileId
    const added = await handle({
      stream: profilesStream(userId),
      decider: firstProfileDecider,
      command: { profileId: profileId.right, userId, name: FIRST_PROFILE_NAME, settings: DEFAULT_ENGINE_SETTINGS, at: environment.now() },
      ...about(cause),
    })()
    return E.isLeft(added) ? added : E.right(added.right.position)
  }

  // Each step finds what an earlier, broken off attempt left: a claim without a user is taken up with its id, and of
  // several who do so the stream of the user lets one through.
  const registerUser: Users['registerUser'] = (user, actor) => async () => {
    const cause = { commandId: environment.newId(), actor }
    const hash = usernameHash(credentials, user.username)
    const userId = await claim(hash, cause)
    if (E.isLeft(userId)) return userId
    const passwordHash = await credentials.hashPassword(user.password)()
    if (E.isLeft(passwordHash)) return passwordHash
    const registration: Registration = {
      userId: userId.right,
      username: user.username,
      usernameHash: hash,
      passwordHash: passwordHash.right,
      permissions: user.permissions,
      maxSessions: user.maxSessions,
      maxTranslations: user.maxTranslations,
      at: environment.now(),
    }
    const stream = userStream(userId.right)
    const registered = await handle({ stream, decider: userDecider, command: { type: 'Register', data: registration }, ...about(cause) })()
    if (E.isLeft(registered)) {
      const refusal = registered.left
      switch (refusal._tag) {
        case 'AlreadyRegistered':
        case 'UserUnknown':
        case 'PasswordOutdated':
        case 'LastAdministrator':
          return E.left(usernameTaken)
        default:
          return E.left(refusal)
      }
    }
    const profile = await addFirstProfile(userId.right, cause)
    if (E.isLeft(profile)) return profile
    const { position, state } = registered.right
    if (!isUser(state)) throw new Error('a registered user is none')
    // The profile's event is the later one; it may have been there already.
    if (position !== null) await Promise.all([directory.whenSeen(position), projector.whenProjected(profile.right ?? position)])
    return E.right(userViewOf(state))
  }

  const complete = new Set<number>()

  const ensureFirstProfiles = (): TaskEither<Unavailable, number> => async () => {
    let count = 0
    for (const userId of directory.ids().filter((id) => !complete.has(id))) {
      const known = await deps.store.read(profilesStream(userId), { limit: 1 })()
      if (E.isLeft(known) && isHurt(known.left)) continue
      if (E.isLeft(known)) return known
      if (known.right.length === 0) {
        const added = await addFirstProfile(userId, { commandId: environment.newId(), actor: `instance:${environment.instance}` })
        if (E.isLeft(added) && !canWait(added.left)) return added
        if (E.isRight(added) && added.right !== null) count += 1
      }
      complete.add(userId)
    }
    return E.right(count)
  }

  return { registerUser, ensureFirstProfiles }
}
