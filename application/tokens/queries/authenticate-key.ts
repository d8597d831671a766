import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import { pipe } from 'fp-ts/lib/function.js'
import { hasExpired, prefixOfSecret } from '../../../domain/api-token/rules.ts'
import type { Caller } from '../../caller.ts'
import type { Credentials } from '../../ports/credentials.ts'
import type { Environment } from '../../ports/environment.ts'
import { callerOf, isActive } from '../../users/known-user.ts'
import type { UserDirectory } from '../../users/policies/user-directory.ts'
import type { KnownToken, TokenDirectory } from '../policies/token-directory.ts'
import type { TokenUses } from '../policies/token-uses.ts'

/**
 * The caller behind an API token: none for one that is unknown, inactive, expired or revoked, or whose user is not
 * active.
 */
export type AuthenticateKey = (secret: string) => Option<Caller>

export interface AuthenticateKeyDeps {
  readonly tokens: Pick<TokenDirectory, 'byPrefix'>
  readonly users: Pick<UserDirectory, 'byId'>
  readonly credentials: Pick<Credentials, 'verifyApiToken'>
  readonly environment: Pick<Environment, 'now'>
  readonly uses: Pick<TokenUses, 'record'>
}

/** From memory alone: neither store is read. */
export const authenticateKey =
  ({ tokens, users, credentials, environment, uses }: AuthenticateKeyDeps): AuthenticateKey =>
  (secret) => {
    const prefix = prefixOfSecret(secret)
    if (prefix === null) return O.none
    const token = tokens.byPrefix(prefix)
    const isRight = credentials.verifyApiToken(secret, O.map(({ secretHash }: KnownToken) => secretHash)(token))
    if (O.isNone(token) || !isRight) return O.none
    const { isActive: isTokenActive, expiresAt, userId } = token.value
    if (!isTokenActive || hasExpired(expiresAt, environment.now())) return O.none
    const caller = pipe(users.byId(userId), O.filter(isActive), O.map((user) => callerOf(user, 'api-key')))
    if (O.isSome(caller)) uses.record(token.value)
    return caller
  }
