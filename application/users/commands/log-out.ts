import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { loginTokenStream } from '../../../domain/login/events.ts'
import { loginTokenDecider } from '../../../domain/login/login-token.ts'
import { actorOf } from '../../caller.ts'
import type { Caller } from '../../caller.ts'
import type { Unavailable } from '../../errors.ts'
import { handleCommand } from '../../log/handle-command.ts'
import { meaningOf } from '../../log/meaning-of.ts'
import { originOf } from '../../log/origin.ts'
import type { LoginDirectory } from '../policies/login-directory.ts'
import { onceKnown, sendToUser } from '../user-writes.ts'
import type { UserWriteDeps } from '../user-writes.ts'

/** Ends the login token that the caller shows, or with `everywhere` all of the user; what they started goes on. */
export type LogOut = (caller: Caller, everywhere: boolean) => TaskEither<Unavailable, void>

export interface LogOutDeps extends UserWriteDeps {
  readonly logins: Pick<LoginDirectory, 'whenSeen'>
}

/** On top of what a token has left to live: clocks differ, and an expired one is taken for some seconds. */
const SPARE_SECONDS = 600

const GONE = { _tag: 'UserGone' } as const

const endToken = async (deps: LogOutDeps, caller: Caller): Promise<Either<Unavailable, void>> => {
  const { store, environment, logins } = deps
  const { login, userId } = caller
  if (login === undefined) return E.right(undefined)
  const stream = loginTokenStream(login.tokenId)
  const command = { userId, at: environment.now() }
  const origin = originOf(deps, actorOf(caller))
  const ended = await handleCommand(deps)({ ...origin, stream, decider: loginTokenDecider, command })()
  if (E.isLeft(ended)) return ended
  const { position } = ended.right
  if (position === null) return E.right(undefined)
  const left = Math.ceil(login.expiresAt - Date.parse(command.at) / 1000)
  // One that is kept for longer, because this failed, does no harm.
  await store.setMetadata(stream, { maxAgeSeconds: Math.max(0, left) + SPARE_SECONDS })()
  await logins.whenSeen(position)
  return E.right(undefined)
}

/** The answer comes once the directories know, so that the token is refused from then on. */
export const logOut =
  (deps: LogOutDeps): LogOut =>
  (caller, everywhere) =>
  async () => {
    if (!everywhere) return await endToken(deps, caller)
    const command = { type: 'EndLogins', at: deps.environment.now() } as const
    const sent = await sendToUser(deps)(caller.userId, command, originOf(deps, actorOf(caller)))
    if (E.isRight(sent)) {
      await onceKnown(deps)(sent.right)
      return E.right(undefined)
    }
    const why = meaningOf(`user ${caller.userId}`, sent.left, {
      UserUnknown: GONE, PasswordOutdated: null, LastAdministrator: null, AlreadyRegistered: null,
    })
    // Who was deleted meanwhile has no login left.
    return why._tag === 'UserGone' ? E.right(undefined) : E.left(why)
  }
