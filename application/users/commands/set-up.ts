import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Unavailable, UsernameTaken } from '../../errors.ts'
import type { Credentials, TooBusy } from '../../ports/credentials.ts'
import type { Environment } from '../../ports/environment.ts'
import type { UserView } from '../../ports/read-models.ts'
import { createTurns } from '../../turns.ts'
import type { HasUsers } from '../queries/has-users.ts'
import { firstAdmin } from './register-first-admin.ts'
import type { RegisterUser } from './register-user.ts'

export interface SetupLinkDeps {
  readonly environment: Pick<Environment, 'newSecret' | 'monotonic'>
  readonly credentials: Pick<Credentials, 'keyedHash'>
  readonly hasUsers: HasUsers
  readonly registerUser: RegisterUser
}

export interface SetupRefused {
  readonly _tag: 'SetupRefused'
  readonly reason: 'invalid' | 'expired' | 'used'
}

/** Registers the first administrator. A registration that is refused leaves the token as it was. */
export type SetUp = (
  token: string,
  username: string,
  password: string,
) => TaskEither<SetupRefused | UsernameTaken | TooBusy | Unavailable, UserView>

/** How the first administrator comes to be without a default password. */
export interface SetupLink {
  /** For the link that is printed at first start; null once it is of no use. */
  readonly token: () => string | null
  readonly setUp: SetUp
}

const TOKEN_LIFE_MS = 30 * 60 * 1000

const refuse = (reason: SetupRefused['reason']) => E.left<SetupRefused>({ _tag: 'SetupRefused', reason })

/** The token begins to age now. */
export const openSetupLink = ({ environment, credentials, hasUsers, registerUser }: SetupLinkDeps): SetupLink => {
  const secret = environment.newSecret()
  // Hashes under a key that nobody outside knows: how long a comparison takes tells nothing about the secret.
  const hash = credentials.keyedHash('setup-token', secret)
  const expiresAt = environment.monotonic() + TOKEN_LIFE_MS
  let isUsed = false
  const inTurn = createTurns()

  const isExpired = (): boolean => environment.monotonic() >= expiresAt

  const attempt: SetUp = (token, username, password) => async () => {
    if (credentials.keyedHash('setup-token', token) !== hash) return refuse('invalid')
    if (isUsed || hasUsers()) return refuse('used')
    if (isExpired()) return refuse('expired')
    const registered = await registerUser(firstAdmin(username, password), 'setup')()
    isUsed = E.isRight(registered)
    return registered
  }

  return {
    token: () => (isUsed || hasUsers() || isExpired() ? null : secret),
    // One at a time: who comes second learns what became of the first.
    setUp: (token, username, password) => () => inTurn('set-up', attempt(token, username, password)),
  }
}
