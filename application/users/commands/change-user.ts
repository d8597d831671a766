import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { isUser, userDecider } from '../../../domain/user/decider.ts'
import type { User, UserCommand, UserRefusal, UserState } from '../../../domain/user/decider.ts'
import { userStream } from '../../../domain/user/events.ts'
import type { UserEvent } from '../../../domain/user/events.ts'
import { hasPassword } from '../queries/authenticate.ts'
import { actorOf } from '../../caller.ts'
import type { Caller } from '../../caller.ts'
import type { LastAdministratorChanged, Unavailable, UserNotFound, WrongPassword } from '../../errors.ts'
import { handleCommand } from '../../log/handle-command.ts'
import type { Handled, WriteDeps } from '../../log/handle-command.ts'
import type { Origin } from '../../log/origin.ts'
import type { Credentials } from '../../ports/credentials.ts'
import type { Projector } from '../../ports/projector.ts'
import type { ChangeUserRequest } from '../../requests.ts'
import type { Services } from '../../services.ts'
import type { Administrators } from '../administrators.ts'
import { guessedName } from '../login-throttle.ts'
import type { LoginThrottle } from '../login-throttle.ts'
import type { UserDirectory } from '../policies/user-directory.ts'
import { userViewOf } from './register-user.ts'

export interface UserChangesDeps extends WriteDeps {
  readonly credentials: Pick<Credentials, 'hashPassword' | 'verifyPassword'>
  readonly directory: Pick<UserDirectory, 'byId' | 'whenSeen'>
  readonly projector: Pick<Projector, 'whenProjected'>
  readonly throttle: LoginThrottle
  readonly administrators: Administrators
  /** Ends every open live of a user who was disabled. */
  readonly endLivesOf: (userId: number, origin: Origin) => Promise<Either<Unavailable, void>>
}

type Sent = Either<UserRefusal | Unavailable, Handled<UserState, UserEvent>>
type Changed = Either<UserNotFound | WrongPassword | LastAdministratorChanged | Unavailable, User>

const notFound: UserNotFound = { _tag: 'UserNotFound' }
const wrongPassword: WrongPassword = { _tag: 'WrongPassword' }
const lastAdministrator: LastAdministratorChanged = { _tag: 'LastAdministratorChanged' }

const mayTakeAway = ({ permissions, isActive }: ChangeUserRequest): boolean =>
  isActive === false || permissions?.includes('admin') === false

/** What becomes of a user after the registration (D47). The answer comes once the directory and the lists know. */
export const createUserChanges = (deps: UserChangesDeps): Pick<Services, 'me' | 'changeUser' | 'changeOwnPassword'> => {
  const { environment, credentials, directory, projector, throttle, administrators } = deps

  const originOf = (caller: Caller): Origin => {
    const commandId = environment.newId()
    return { commandId, correlationId: commandId, actor: actorOf(caller) }
  }

  const known = async ({ state, position }: Handled<UserState, UserEvent>): Promise<Changed> => {
    if (position !== null) await Promise.all([directory.whenSeen(position), projector.whenProjected(position)])
    return isUser(state) ? E.right(state) : E.left(notFound)
  }

  const send = (userId: number, command: UserCommand, origin: Origin): Promise<Sent> =>
    handleCommand(deps)({ ...origin, stream: userStream(userId), decider: userDecider, command })()

  const outcome = async (userId: number, sent: Sent): Promise<Changed> => {
    if (E.isRight(sent)) return await known(sent.right)
    switch (sent.left._tag) {
      case 'UserUnknown':
        return E.left(notFound)
      case 'PasswordOutdated':
        return E.left(wrongPassword)
      case 'LastAdministrator':
        return E.left(lastAdministrator)
      case 'AlreadyRegistered':
        throw new Error(`user ${userId} refused a change with AlreadyRegistered`)
      default:
        return E.left(sent.left)
    }
  }

  return {
    me: ({ userId }) => E.fromOption(() => notFound)(O.map(userViewOf)(directory.byId(userId))),

    changeUser: (caller, userId, { password, ...changes }) => async () => {
      // Who does not exist costs no hash.
      if (O.isNone(directory.byId(userId))) return E.left(notFound)
      const hashed = password === undefined ? E.right(undefined) : await credentials.hashPassword(password)()
      if (E.isLeft(hashed)) return hashed
      const origin = originOf(caller)
      const wanted = { ...changes, passwordHash: hashed.right }
      const change = (nobodyElseAdministers: boolean): Promise<Sent> =>
        send(userId, { type: 'Change', changes: wanted, nobodyElseAdministers, at: environment.now() }, origin)
      const sent = mayTakeAway(changes) ? await administrators.takeAway(userId, change) : await change(false)
      const changed = await outcome(userId, sent)
      if (E.isLeft(changed)) {
        if (changed.left._tag === 'WrongPassword') throw new Error('a change by an administrator needs no password')
        return E.left(changed.left)
      }
      // Also when nothing changed: an earlier attempt may have been broken off between the two.
      const ended = changed.right.status === 'disabled' ? await deps.endLivesOf(userId, origin) : E.right(undefined)
      return E.isLeft(ended) ? ended : E.right(userViewOf(changed.right))
    },

    changeOwnPassword: (caller, current, next, address) => async () => {
      const user = directory.byId(caller.userId)
      if (O.isNone(user)) return E.left(wrongPassword)
      // Guesses with a stolen token count as those of a login do.
      const { usernameHash, passwordHash, generation } = user.value
      const shown = await throttle(guessedName(usernameHash, generation), address, async () => {
        const known = hasPassword(user.value) ? O.some(passwordHash) : O.none
        const verified = await credentials.verifyPassword(current, known)()
        return E.map((isRight: boolean) => (isRight ? O.some(generation) : O.none))(verified)
      })
      if (E.isLeft(shown)) return shown
      if (O.isNone(shown.right)) return E.left(wrongPassword)
      const hashed = await credentials.hashPassword(next)()
      if (E.isLeft(hashed)) return hashed
      const command = { type: 'ChangePassword', passwordHash: hashed.right, generation, at: environment.now() } as const
      const changed = await outcome(caller.userId, await send(caller.userId, command, originOf(caller)))
      if (E.isRight(changed)) return E.right(undefined)
      switch (changed.left._tag) {
        case 'UserNotFound':
          return E.left(wrongPassword)
        case 'LastAdministratorChanged':
          throw new Error('a new password takes no administrator away')
        default:
          return E.left(changed.left)
      }
    },
  }
}
