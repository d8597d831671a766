import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Caller } from '../../application/caller.ts'
import type { TooManyRequests, Unavailable, UserNotFound } from '../../application/refusals.ts'
import type { AuthenticateKey } from '../../application/tokens/queries/authenticate-key.ts'
import type { Authenticate } from '../../application/users/queries/authenticate.ts'
import type { WhoAmI } from '../../application/users/queries/who-am-i.ts'
import { looksLikeApiToken, prefixOfSecret } from '../../domain/api-token/rules.ts'
import type { TransportRefusal } from './errors.ts'
import type { RequestLimits } from './clients/request-limits.ts'
import type { Access, Route } from './route.ts'

interface SentCredentials {
  /** The header Authorization, if it was sent. */
  readonly authorization: string | undefined
  /** The header X-API-Key, if it was sent. */
  readonly apiKey: string | undefined
}

/** The address of a request and the limits that count it. */
interface RateLimiting {
  readonly address: string
  readonly limits: RequestLimits
}

type AccessRefusal = TransportRefusal | TooManyRequests | Unavailable

const INVALID = E.left({ _tag: 'InvalidCredentials' } as const)

/** The use cases that identify a caller. */
export interface AccessCalls {
  readonly authenticate: Authenticate
  readonly authenticateKey: AuthenticateKey
  readonly whoAmI: WhoAmI
}

type AuthenticateCalls = Pick<AccessCalls, 'authenticate' | 'authenticateKey'>

/**
 * Returns `refusal`, or 429 when the address has reached its limit. Counting by address is necessary here, because
 * invented credentials would bypass the limit and fill its memory.
 */
const refuse = (
  { limits, address }: RateLimiting,
  refusal: E.Either<AccessRefusal, never>,
): E.Either<AccessRefusal, never> => {
  const verdict = limits.take(`address ${address}`)
  return E.isLeft(verdict) ? verdict : refusal
}

const admitCounted = (caller: Caller, bucket: string, { limits }: RateLimiting): E.Either<TooManyRequests, Caller> => {
  const verdict = limits.take(bucket)
  return E.map(() => caller)(E.isLeft(verdict) ? verdict : limits.takeOfUser(caller.userId))
}

/** A valid key passes the limit on wrong keys. So other clients behind the same proxy cannot lock it out. */
const identifyByKey = async (
  secret: string,
  calls: AuthenticateCalls,
  limiting: RateLimiting,
): Promise<E.Either<AccessRefusal, Caller>> => {
  const caller = await calls.authenticateKey(secret)
  if (E.isLeft(caller)) return refuse(limiting, caller)
  if (O.isSome(caller.right)) return admitCounted(caller.right.value, `key ${prefixOfSecret(secret) ?? ''}`, limiting)
  const verdict = limiting.limits.countWrongKey(limiting.address)
  return refuse(limiting, E.isLeft(verdict) ? verdict : INVALID)
}

/** Prefers `Authorization` to `X-API-Key` when both are sent. `Authorization` may also hold an API token. */
const identify = async (
  sent: SentCredentials,
  calls: AuthenticateCalls,
  limiting: RateLimiting,
): Promise<E.Either<AccessRefusal, Caller>> => {
  if (sent.authorization === undefined) {
    if (sent.apiKey === undefined) return refuse(limiting, E.left({ _tag: 'NotAuthenticated' }))
    return await identifyByKey(sent.apiKey, calls, limiting)
  }
  const bearer = /^bearer +(\S+) *$/i.exec(sent.authorization)?.[1]
  if (bearer === undefined) return refuse(limiting, INVALID)
  if (looksLikeApiToken(bearer)) return await identifyByKey(bearer, calls, limiting)
  const caller = await calls.authenticate(bearer)
  if (E.isLeft(caller)) return refuse(limiting, caller)
  // All logins of a user share one limit, because a user can log in any number of times.
  return O.isNone(caller.right)
    ? refuse(limiting, INVALID)
    : admitCounted(caller.right.value, `user ${caller.right.value.userId}`, limiting)
}

/** The person who has access to the data directory. The operating system has checked that access. */
const OPERATOR: Caller =
  { userId: 0, permissions: ['admin'], maxSessions: 0, maxTranslations: 0, credential: 'operator' }

/** Header with the id of the user whom the operator acts for. Only the socket in the data directory reads it. */
export const ON_BEHALF_OF = 'x-on-behalf-of'

/**
 * Returns the caller of a request through the socket in the data directory. The operator is not a user. On routes with
 * `operator: 'as-named-user'` the operator acts as the user `userIdText`, who must exist.
 */
export const admitOperator = async (
  { access, operator }: Pick<Route, 'access' | 'operator'>,
  userIdText: string | undefined,
  { whoAmI }: Pick<AccessCalls, 'whoAmI'>,
): Promise<E.Either<TransportRefusal | UserNotFound | Unavailable, Caller | null>> => {
  if (access === 'public') return E.right(null)
  if (access === 'admin' || operator === 'for-any-user') return E.right(OPERATOR)
  if (operator === undefined || userIdText === undefined || !/^[1-9]\d{0,14}$/.test(userIdText))
    return E.left({ _tag: 'NotAuthenticated' })
  const caller: Caller = { ...OPERATOR, userId: Number(userIdText), permissions: [] }
  return E.map(() => caller)(await whoAmI(caller))
}

/** Counts a request and returns its caller, null on a public route. `publicBucket` is the limit of a public route. */
export const admit = async (
  access: Access,
  sent: SentCredentials,
  calls: AuthenticateCalls,
  limiting: RateLimiting & { readonly publicBucket: string },
): Promise<E.Either<AccessRefusal, Caller | null>> => {
  if (access === 'public') {
    const take = limiting.publicBucket === 'pages' ? limiting.limits.takeFile : limiting.limits.take
    return E.map(() => null)(take(`${limiting.publicBucket} ${limiting.address}`))
  }
  const caller = await identify(sent, calls, limiting)
  if (E.isLeft(caller) || access === 'private') return caller
  if (caller.right.credential !== 'jwt') return E.left({ _tag: 'ApiKeyNotAccepted' })
  const isAllowed = access === 'login' || caller.right.permissions.includes('admin')
  return isAllowed ? caller : E.left({ _tag: 'PermissionMissing' })
}
