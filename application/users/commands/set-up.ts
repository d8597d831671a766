import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Unavailable, UsernameTaken } from '../../errors.ts'
import type { Credentials, TooBusy } from '../../ports/credentials.ts'
import type { Environment } from '../../ports/environment.ts'
import type { UserView } from '../../ports/read-models.ts'
import { createTurns } from '../../turns.ts'
import type { IsSetUp } from '../queries/is-set-up.ts'
import { firstAdmin } from './register-first-admin.ts'
import type { RegisterUser } from './register-user.ts'

export interface SetupLinkDeps {
  readonly environment: Pick<Environment, 'now'>
  readonly credentials: Pick<Credentials, 'keyedHash'>
  readonly isSetUp: IsSetUp
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
  /** For the link that is printed at start, of use for half an hour from now; null once it would be of none. */
  readonly token: TaskEither<Unavailable, string | null>
  readonly setUp: SetUp
}

const TOKEN_LIFE_MS = 30 * 60 * 1000
/** As long as all our secrets: the milliseconds since 1970 when it expires, to the base 36, then 204 bits of the signature. */
const TOKEN_LENGTH = 43
const EXPIRY_LENGTH = 9

const refuse = (reason: SetupRefused['reason']) => E.left<SetupRefused>({ _tag: 'SetupRefused', reason })

/**
 * A token says until when it is good, signed under a key that only processes of this installation have: any of them
 * takes it, also after a restart, and it is used up as soon as there is an administrator.
 */
export const openSetupLink = ({ environment, credentials, isSetUp, registerUser }: SetupLinkDeps): SetupLink => {
  const inTurn = createTurns()
  const now = (): number => Date.parse(environment.now())
  const hash = (text: string): string => credentials.keyedHash('setup-token', text)
  const signed = (expiresAt: number): string => {
    const expiry = expiresAt.toString(36).padStart(EXPIRY_LENGTH, '0')
    return expiry + hash(expiry).slice(0, TOKEN_LENGTH - EXPIRY_LENGTH)
  }

  /** Of a token of ours, in milliseconds since 1970; null of any other. */
  const expiryOf = (token: string): number | null => {
    const expiresAt = Number.parseInt(token.slice(0, EXPIRY_LENGTH), 36)
    // Hashes under a key that nobody outside knows: how long a comparison takes tells nothing about the signature.
    return hash(token) === hash(signed(expiresAt)) ? expiresAt : null
  }

  const attempt: SetUp = (token, username, password) => async () => {
    const expiresAt = expiryOf(token)
    if (expiresAt === null) return refuse('invalid')
    const isDone = await isSetUp()()
    if (E.isLeft(isDone)) return isDone
    if (isDone.right) return refuse('used')
    return now() >= expiresAt ? refuse('expired') : await registerUser(firstAdmin(username, password), 'setup')()
  }

  return {
    token: async () => E.map((isDone: boolean) => (isDone ? null : signed(now() + TOKEN_LIFE_MS)))(await isSetUp()()),
    // One at a time: who comes second learns what became of the first.
    setUp: (token, username, password) => () => inTurn('set-up', attempt(token, username, password)),
  }
}
