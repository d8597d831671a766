import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { ApiToken } from '../../../domain/api-token/decider.ts'
import { hasExpired, prefixOfSecret } from '../../../domain/api-token/rules.ts'
import type { Caller } from '../../caller.ts'
import type { Unavailable } from '../../refusals.ts'
import type { Credentials } from '../../ports/credentials.ts'
import type { Environment } from '../../ports/environment.ts'
import { callerOf, isActive } from '../../users/known-user.ts'
import type { UserDirectory } from '../../users/policies/user-directory.ts'
import type { TokenDirectory } from '../policies/token-directory.ts'
import type { TokenUses } from '../policies/token-uses.ts'

/**
 * Returns the caller who owns an API token. None: the token is unknown, inactive, expired or revoked, or its user is
 * not active. Left: this cannot be determined at the moment.
 */
export type AuthenticateKey = (secret: string) => Promise<Either<Unavailable, Option<Caller>>>

export interface AuthenticateKeyDeps {
  readonly tokens: Pick<TokenDirectory, 'byPrefix'>
  readonly users: Pick<UserDirectory, 'byId'>
  readonly credentials: Pick<Credentials, 'verifyApiToken'>
  readonly environment: Pick<Environment, 'now'>
  readonly uses: Pick<TokenUses, 'record'>
}

/** Answers from memory for recently used tokens and users. */
export const authenticateKey =
  ({ tokens, users, credentials, environment, uses }: AuthenticateKeyDeps): AuthenticateKey =>
  async (secret) => {
    const prefix = prefixOfSecret(secret)
    if (prefix === null) return E.right(O.none)
    const found = await tokens.byPrefix(prefix)
    if (E.isLeft(found)) return found
    const token = found.right
    const isRight = credentials.verifyApiToken(secret, O.map(({ secretHash }: ApiToken) => secretHash)(token))
    if (O.isNone(token) || !isRight) return E.right(O.none)
    const { isActive: isTokenActive, expiresAt, userId } = token.value
    if (!isTokenActive || hasExpired(expiresAt, environment.now())) return E.right(O.none)
    const user = await users.byId(userId)
    if (E.isLeft(user)) return user
    const caller = pipe(user.right, O.filter(isActive), O.map((active) => callerOf(active, 'api-key')))
    if (O.isSome(caller)) uses.record(token.value)
    return E.right(caller)
  }
