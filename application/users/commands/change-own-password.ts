import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { actorOf, type Caller } from '../../caller.ts'
import type { TooManyRequests, Unavailable, WrongPassword } from '../../refusals.ts'
import { mapRefusal } from '../../log/map-refusal.ts'
import { originOf } from '../../log/origin.ts'
import { sendToUser } from '../../log/send-to.ts'
import type { Credentials, TooBusy } from '../../ports/credentials.ts'
import { hasPassword } from '../known-user.ts'
import { type LoginThrottle, throttledName } from '../login-throttle.ts'
import { userOnceVisible, type UserWriteDeps } from '../user-writes.ts'

/** Changes the caller's password. Invalidates all earlier JWTs of the caller, including the JWT of this call. */
export type ChangeOwnPassword = (
  caller: Caller,
  current: string,
  next: string,
  address: string,
) => Promise<Either<WrongPassword | TooManyRequests | TooBusy | Unavailable, void>>

export interface ChangeOwnPasswordDeps extends UserWriteDeps {
  readonly credentials: Pick<Credentials, 'hashPassword' | 'verifyPassword'>
  readonly throttle: LoginThrottle
}

const wrongPassword: WrongPassword = { _tag: 'WrongPassword' }

/** Returns once the directory and the read models show the change. */
export const changeOwnPassword =
  (deps: ChangeOwnPasswordDeps): ChangeOwnPassword =>
  async (caller, current, next, address) => {
    const { credentials, directory, throttle } = deps
    const known = await directory.byId(caller.userId)
    if (E.isLeft(known)) return known
    const user = known.right
    if (O.isNone(user)) return E.left(wrongPassword)
    // Password guesses with a stolen token count like failed logins.
    const { usernameHash, passwordHash, generation } = user.value
    const shown = await throttle(throttledName(usernameHash, generation), address, async () => {
      const knownHash = hasPassword(user.value) ? O.some(passwordHash) : O.none
      const verified = await credentials.verifyPassword(current, knownHash)
      return E.map((isRight: boolean) => (isRight ? O.some(generation) : O.none))(verified)
    })
    if (E.isLeft(shown)) return shown
    if (O.isNone(shown.right)) return E.left(wrongPassword)
    const hashed = await credentials.hashPassword(next)
    if (E.isLeft(hashed)) return hashed
    const command = { type: 'ChangePassword', passwordHash: hashed.right, generation } as const
    const sent = await sendToUser(deps)(caller.userId, command, originOf(deps, actorOf(caller)))
    if (E.isLeft(sent))
      return E.left(mapRefusal(sent.left, { UserUnknown: wrongPassword, PasswordOutdated: wrongPassword }))
    return (await userOnceVisible(deps)(sent.right)) === null ? E.left(wrongPassword) : E.right(undefined)
  }
