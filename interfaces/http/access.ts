import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Caller } from '../../application/caller.ts'
import type { Services } from '../../application/services.ts'
import { looksLikeApiToken } from '../../domain/api-token/rules.ts'
import type { TransportRefusal } from './errors.ts'
import type { Access } from './route.ts'

interface SentCredentials {
  /** The header Authorization, undefined when it was not sent. */
  readonly authorization: string | undefined
  /** The header X-API-Key. */
  readonly apiKey: string | undefined
}

const INVALID = E.left({ _tag: 'InvalidCredentials' } as const)

type Authenticating = Pick<Services, 'authenticate' | 'authenticateKey'>

const known = (caller: O.Option<Caller>): E.Either<TransportRefusal, Caller> => (O.isNone(caller) ? INVALID : E.right(caller.value))

/** `Authorization` alone decides where it is present (D32), and may hold an API token as well; the scheme is read in any case. */
const identify = async (sent: SentCredentials, services: Authenticating): Promise<E.Either<TransportRefusal, Caller>> => {
  if (sent.authorization === undefined) {
    if (sent.apiKey === undefined) return E.left({ _tag: 'NotAuthenticated' })
    return known(services.authenticateKey(sent.apiKey))
  }
  const bearer = /^bearer +(\S+) *$/i.exec(sent.authorization)?.[1]
  if (bearer === undefined) return INVALID
  return known(looksLikeApiToken(bearer) ? services.authenticateKey(bearer) : await services.authenticate(bearer))
}

/** Whoever may use the data directory: the operating system has checked that. */
const OPERATOR: Caller = { userId: 0, permissions: ['admin'], maxSessions: 0, maxTranslations: 0, credential: 'operator' }

/** The caller of a route asked through the socket in the data directory. The operator is no user, so has nothing of its own. */
export const admitOperator = (access: Access): E.Either<TransportRefusal, Caller | null> => {
  if (access === 'public') return E.right(null)
  return access === 'admin' ? E.right(OPERATOR) : E.left({ _tag: 'NotAuthenticated' })
}

/** The caller of a route with `access`; null where anybody may call. */
export const admit = async (
  access: Access,
  sent: SentCredentials,
  services: Authenticating,
): Promise<E.Either<TransportRefusal, Caller | null>> => {
  if (access === 'public') return E.right(null)
  const caller = await identify(sent, services)
  if (E.isLeft(caller) || access === 'private') return caller
  if (caller.right.credential !== 'jwt') return E.left({ _tag: 'ApiKeyNotAccepted' })
  return access === 'login' || caller.right.permissions.includes('admin') ? caller : E.left({ _tag: 'PermissionMissing' })
}
