import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Caller } from '../../application/caller.ts'
import type { Services } from '../../application/services.ts'
import type { TransportRefusal } from './errors.ts'
import type { Access } from './route.ts'

interface SentCredentials {
  /** The header Authorization, undefined when it was not sent. */
  readonly authorization: string | undefined
  /** The header X-API-Key. */
  readonly apiKey: string | undefined
}

const INVALID = E.left({ _tag: 'InvalidCredentials' } as const)

/** `Authorization` alone decides where it is present (D32); the scheme is read in any case. */
const identify = async (sent: SentCredentials, services: Pick<Services, 'authenticate'>): Promise<E.Either<TransportRefusal, Caller>> => {
  if (sent.authorization === undefined) {
    // No API tokens can be issued yet, so every key is an invalid one.
    return sent.apiKey === undefined ? E.left({ _tag: 'NotAuthenticated' }) : INVALID
  }
  const bearer = /^bearer +(\S+) *$/i.exec(sent.authorization)?.[1]
  if (bearer === undefined) return INVALID
  const caller = await services.authenticate(bearer)
  return O.isNone(caller) ? INVALID : E.right(caller.value)
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
  services: Pick<Services, 'authenticate'>,
): Promise<E.Either<TransportRefusal, Caller | null>> => {
  if (access === 'public') return E.right(null)
  const caller = await identify(sent, services)
  if (E.isLeft(caller) || access === 'private') return caller
  if (caller.right.credential === 'api-key') return E.left({ _tag: 'ApiKeyNotAccepted' })
  return access === 'login' || caller.right.permissions.includes('admin') ? caller : E.left({ _tag: 'PermissionMissing' })
}
