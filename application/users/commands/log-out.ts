import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { loginTokenStream } from '../../../domain/login/events.ts'
import { loginTokenDecider } from '../../../domain/login/login-token.ts'
import { actorOf, type Caller } from '../../caller.ts'
import type { Unavailable } from '../../refusals.ts'
import { handleCommand, type WriteDeps } from '../../log/handle-command.ts'
import { originOf } from '../../log/origin.ts'
import { sendToUser } from '../../log/send-to.ts'
import type { LoginDirectory } from '../policies/login-directory.ts'
import type { UserDirectory } from '../policies/user-directory.ts'

/** Invalidates the caller's login token, or all login tokens of the user. Running sessions continue. */
export type LogOut = (caller: Caller, everywhere: boolean) => Promise<Either<Unavailable, void>>

export interface LogOutDeps extends WriteDeps {
  readonly directory: Pick<UserDirectory, 'whenSeen'>
  readonly logins: Pick<LoginDirectory, 'whenSeen'>
  /** Lifetime of a login token. */
  readonly jwtTtlSeconds: number
}

/** The record of a logged-out token is kept this much longer than the token is valid, because clocks differ. */
const MARGIN_SECONDS = 600

/**
 * Returns for how long a logged-out token could be accepted. The clock of this machine may be ahead, then the token
 * seems to end too soon. Or it was ahead when it issued the token, which then ends later than its lifetime allows.
 */
const validSeconds = ({ store, environment, jwtTtlSeconds }: LogOutDeps, expiresAt: number): number => {
  const now = Math.min(Date.parse(environment.now()), store.now())
  return Math.max(jwtTtlSeconds, Math.ceil(expiresAt - now / 1000))
}

const endToken = async (deps: LogOutDeps, caller: Caller): Promise<Either<Unavailable, void>> => {
  const { store, environment, logins } = deps
  const { login, userId } = caller
  if (login === undefined) return E.right(undefined)
  const stream = loginTokenStream(login.tokenId)
  const command = { userId, at: environment.now() }
  const origin = originOf(deps, actorOf(caller))
  const ended = await handleCommand(deps)({ ...origin, stream, decider: loginTokenDecider, command })
  if (E.isLeft(ended)) return ended
  const { position } = ended.right
  if (position === null) return E.right(undefined)
  // A failure is harmless, because the record then only stays longer than necessary.
  await store.setMetadata(stream, { maxAgeSeconds: validSeconds(deps, login.expiresAt) + MARGIN_SECONDS })
  await logins.whenSeen(position)
  return E.right(undefined)
}

/** Returns once the directories have received the change, so the token is then refused. */
export const logOut =
  (deps: LogOutDeps): LogOut =>
  async (caller, everywhere) => {
    if (!everywhere) return await endToken(deps, caller)
    const sent = await sendToUser(deps)(caller.userId, { type: 'EndLogins' }, originOf(deps, actorOf(caller)))
    if (E.isRight(sent)) {
      const { position } = sent.right
      if (position !== null) await deps.directory.whenSeen(position)
      return E.right(undefined)
    }
    // A deleted user has no valid login.
    return sent.left._tag === 'UserUnknown' ? E.right(undefined) : E.left(sent.left)
  }
