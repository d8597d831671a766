import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Unavailable, UsernameTaken } from '../../errors.ts'
import type { Credentials, TooBusy } from '../../ports/credentials.ts'
import type { Environment } from '../../ports/environment.ts'
import type { UserView } from '../../ports/read-models.ts'
import type { NewUser } from '../../requests.ts'
import type { Services } from '../../services.ts'
import { DEFAULT_QUOTAS } from './register-user.ts'

export interface SetupDeps {
  readonly environment: Pick<Environment, 'newSecret' | 'monotonic'>
  readonly credentials: Pick<Credentials, 'keyedHash'>
  readonly hasUsers: Services['hasUsers']
  readonly registerUser: Services['registerUser']
}

export interface SetupRefused {
  readonly _tag: 'SetupRefused'
  readonly reason: 'invalid' | 'expired' | 'used'
}

/** How the first administrator comes to be without a default password. */
export interface Setup {
  /** For the link that is printed at first start; null once it is of no use. */
  readonly token: () => string | null
  /** Registers the first administrator. A registration that is refused leaves the token as it was. */
  readonly redeem: (token: string, username: string, password: string) => TaskEither<SetupRefused | UsernameTaken | TooBusy | Unavailable, UserView>
}

const TOKEN_LIFE_MS = 30 * 60 * 1000

const firstAdmin = (username: string, password: string): NewUser => ({
  username,
  password,
  permissions: ['admin', 'user_retention'],
  ...DEFAULT_QUOTAS,
})

const refuse = (reason: SetupRefused['reason']) => E.left<SetupRefused>({ _tag: 'SetupRefused', reason })

/** The token begins to age now. */
export const createSetup = ({ environment, credentials, hasUsers, registerUser }: SetupDeps): Setup => {
  const secret = environment.newSecret()
  // Hashes under a key that nobody outside knows: how long a comparison takes tells nothing about the secret.
  const hash = credentials.keyedHash('setup-token', secret)
  const expiresAt = environment.monotonic() + TOKEN_LIFE_MS
  let isUsed = false
  let previous: Promise<unknown> = Promise.resolve()

  const isExpired = (): boolean => environment.monotonic() >= expiresAt

  const attempt: Setup['redeem'] = (token, username, password) => async () => {
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
    redeem: (token, username, password) => () => {
      const result = previous.then(attempt(token, username, password))
      previous = result.catch(() => undefined)
      return result
    },
  }
}

/** The first administrator from the settings; null when there are users already, so that it can run at every start. */
export const adminFromSettings =
  ({ hasUsers, registerUser }: Pick<SetupDeps, 'hasUsers' | 'registerUser'>) =>
  (username: string, password: string): TaskEither<TooBusy | Unavailable, UserView | null> =>
  async () => {
    if (hasUsers()) return E.right(null)
    const registered = await registerUser(firstAdmin(username, password), 'setup')()
    if (E.isRight(registered)) return registered
    // Another process with the same settings was faster.
    return registered.left._tag === 'UsernameTaken' ? E.right(null) : E.left(registered.left)
  }
