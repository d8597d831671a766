import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Caller } from '../../application/caller.ts'
import type { TooManyRequests, Unavailable, UserNotFound } from '../../application/errors.ts'
import type { AuthenticateKey } from '../../application/tokens/queries/authenticate-key.ts'
import type { Authenticate } from '../../application/users/queries/authenticate.ts'
import type { WhoAmI } from '../../application/users/queries/who-am-i.ts'
import { looksLikeApiToken, prefixOfSecret } from '../../domain/api-token/rules.ts'
import type { TransportRefusal } from './errors.ts'
import type { RequestLimits } from './clients/request-limits.ts'
import type { Access, Route } from './route.ts'

interface SentCredentials {
  /** The header Authorization, undefined when it was not sent. */
  readonly authorization: string | undefined
  /** The header X-API-Key. */
  readonly apiKey: string | undefined
}

/** Where a request comes from, and what counts it. */
interface Counting {
  readonly address: string
  readonly limits: RequestLimits
}

type Refused = TransportRefusal | TooManyRequests | Unavailable

const INVALID = E.left({ _tag: 'InvalidCredentials' } as const)

/** What tells who asks. */
export interface AccessCalls {
  readonly authenticate: Authenticate
  readonly authenticateKey: AuthenticateKey
  readonly whoAmI: WhoAmI
}

type Authenticating = Pick<AccessCalls, 'authenticate' | 'authenticateKey'>

/** Whoever has no right credential counts by address: made-up ones must not be a way around the limit, nor fill its memory. */
const unknown = ({ limits, address }: Counting, refusal: E.Either<Refused, never>): E.Either<Refused, never> => {
  const verdict = limits.take(`address ${address}`)
  return E.isLeft(verdict) ? verdict : refusal
}

const counted = (caller: Caller, who: string, { limits }: Counting): E.Either<TooManyRequests, Caller> =>
  E.map(() => caller)(limits.take(who))

/** A right key passes however many wrong ones came from its address: else anybody behind the same proxy could shut it out. */
const byKey = async (
  secret: string,
  calls: Authenticating,
  counting: Counting,
): Promise<E.Either<Refused, Caller>> => {
  const caller = await calls.authenticateKey(secret)()
  if (E.isLeft(caller)) return unknown(counting, caller)
  if (O.isSome(caller.right)) return counted(caller.right.value, `key ${prefixOfSecret(secret) ?? ''}`, counting)
  const allowed = counting.limits.wrongKey(counting.address)
  return unknown(counting, E.isLeft(allowed) ? allowed : INVALID)
}

/** `Authorization` alone decides where it is present (D32), and may hold an API token as well; the scheme is read in any case. */
const identify = async (sent: SentCredentials, calls: Authenticating, counting: Counting): Promise<E.Either<Refused, Caller>> => {
  if (sent.authorization === undefined) {
    if (sent.apiKey === undefined) return unknown(counting, E.left({ _tag: 'NotAuthenticated' }))
    return await byKey(sent.apiKey, calls, counting)
  }
  const bearer = /^bearer +(\S+) *$/i.exec(sent.authorization)?.[1]
  if (bearer === undefined) return unknown(counting, INVALID)
  if (looksLikeApiToken(bearer)) return await byKey(bearer, calls, counting)
  const caller = await calls.authenticate(bearer)()
  if (E.isLeft(caller)) return unknown(counting, caller)
  // All logins of a user count together: another login is had for the asking.
  return O.isNone(caller.right)
    ? unknown(counting, INVALID)
    : counted(caller.right.value, `user ${caller.right.value.userId}`, counting)
}

/** Whoever may use the data directory: the operating system has checked that. */
const OPERATOR: Caller = { userId: 0, permissions: ['admin'], maxSessions: 0, maxTranslations: 0, credential: 'operator' }

/** The header in which the operator names, by id, the user to act as; on any other way in it says nothing. */
export const ON_BEHALF_OF = 'x-on-behalf-of'

/**
 * The caller of a route asked through the socket in the data directory. The operator is no user, so has nothing of its own;
 * on the routes that say so it acts as the user with the id `named`, who must exist.
 */
export const admitOperator = async (
  { access, operator }: Pick<Route, 'access' | 'operator'>,
  named: string | undefined,
  { whoAmI }: Pick<AccessCalls, 'whoAmI'>,
): Promise<E.Either<TransportRefusal | UserNotFound | Unavailable, Caller | null>> => {
  if (access === 'public') return E.right(null)
  if (access === 'admin' || operator === 'for-any-user') return E.right(OPERATOR)
  if (operator === undefined || named === undefined || !/^[1-9]\d{0,14}$/.test(named)) return E.left({ _tag: 'NotAuthenticated' })
  const caller: Caller = { ...OPERATOR, userId: Number(named), permissions: [] }
  return E.map(() => caller)(await whoAmI(caller)())
}

/** The caller of a route with `access`; null where anybody may call. The request is counted, `publicly` where that is by address. */
export const admit = async (
  access: Access,
  sent: SentCredentials,
  calls: Authenticating,
  counting: Counting & { readonly publicly: string },
): Promise<E.Either<Refused, Caller | null>> => {
  if (access === 'public') {
    const take = counting.publicly === 'pages' ? counting.limits.takeFile : counting.limits.take
    return E.map(() => null)(take(`${counting.publicly} ${counting.address}`))
  }
  const caller = await identify(sent, calls, counting)
  if (E.isLeft(caller) || access === 'private') return caller
  if (caller.right.credential !== 'jwt') return E.left({ _tag: 'ApiKeyNotAccepted' })
  return access === 'login' || caller.right.permissions.includes('admin') ? caller : E.left({ _tag: 'PermissionMissing' })
}
