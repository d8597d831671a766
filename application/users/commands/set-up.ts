import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Unavailable, UsernameTaken } from '../../refusals.ts'
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

/** Registers the first administrator with a setup token. A refused registration does not use up the token. */
export type SetUp = (
  token: string,
  username: string,
  password: string,
) => Promise<Either<SetupRefused | UsernameTaken | TooBusy | Unavailable, UserView>>

/** Creates the first administrator without a default password. */
export interface SetupLink {
  /**
   * Returns the token for the link that is printed at the start. It is valid for half an hour. Null after the set-up.
   */
  readonly token: () => Promise<Either<Unavailable, string | null>>
  readonly setUp: SetUp
}

const TOKEN_LIFE_MS = 30 * 60 * 1000
/**
 * Length of a token. All secrets of the service have this length. A token consists of 9 digits of the expiry
 * (milliseconds since 1970, base 36) and 204 bits of a signature in base64url.
 */
const TOKEN_LENGTH = 43
const EXPIRY_LENGTH = 9

const refuse = (reason: SetupRefused['reason']) => E.left<SetupRefused>({ _tag: 'SetupRefused', reason })

/**
 * Opens the set-up. A token contains its expiry and a signature with a key of this installation. Until it expires or an
 * administrator exists, every process accepts it, even after a restart.
 */
export const openSetupLink = ({ environment, credentials, isSetUp, registerUser }: SetupLinkDeps): SetupLink => {
  const inTurn = createTurns()
  const now = (): number => Date.parse(environment.now())
  const hash = (text: string): string => credentials.keyedHash('setup-token', text)
  const signed = (expiresAt: number): string => {
    const expiry = expiresAt.toString(36).padStart(EXPIRY_LENGTH, '0')
    return expiry + hash(expiry).slice(0, TOKEN_LENGTH - EXPIRY_LENGTH)
  }

  /** Returns the expiry of a token with a valid signature, in milliseconds since 1970. Null for any other token. */
  const expiryOf = (token: string): number | null => {
    const expiresAt = Number.parseInt(token.slice(0, EXPIRY_LENGTH), 36)
    // Compares keyed hashes, so the duration of the comparison reveals nothing about the signature.
    return hash(token) === hash(signed(expiresAt)) ? expiresAt : null
  }

  const attempt: SetUp = async (token, username, password) => {
    const expiresAt = expiryOf(token)
    if (expiresAt === null) return refuse('invalid')
    const isDone = await isSetUp()
    if (E.isLeft(isDone)) return isDone
    if (isDone.right) return refuse('used')
    return now() >= expiresAt ? refuse('expired') : await registerUser(firstAdmin(username, password), 'setup')
  }

  return {
    token: async () => E.map((isDone: boolean) => (isDone ? null : signed(now() + TOKEN_LIFE_MS)))(await isSetUp()),
    // One attempt at a time, so a second attempt sees the result of the first.
    setUp: (token, username, password) => inTurn('set-up', () => attempt(token, username, password)),
  }
}
