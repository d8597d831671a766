import { exampleResponse, UNAVAILABLE } from '../http/errors.ts'
import type { ErrorResponse, RefusalTag } from '../http/errors.ts'
import type { Access, Route } from '../http/route.ts'

const OF_ACCESS: Readonly<Record<Access, ReadonlyArray<RefusalTag>>> = {
  public: [],
  private: ['NotAuthenticated', 'InvalidCredentials', ...UNAVAILABLE],
  login: ['NotAuthenticated', 'InvalidCredentials', 'ApiKeyNotAccepted', ...UNAVAILABLE],
  admin: ['NotAuthenticated', 'InvalidCredentials', 'ApiKeyNotAccepted', 'PermissionMissing', ...UNAVAILABLE],
}

/** Every refusal of a route: of access, of the form of the request, of its handler, and what may happen to any. */
const refusalsOf = (route: Route): ReadonlyArray<RefusalTag> => {
  const isDecoded = [route.params, route.query, route.headers, route.body].some((part) => part !== undefined)
  const ofForm: ReadonlyArray<RefusalTag> = isDecoded ? ['InvalidRequest'] : []
  const ofJson: ReadonlyArray<RefusalTag> = route.body?.kind === 'json' ? ['MediaTypeNotSupported'] : []
  const ofBody: ReadonlyArray<RefusalTag> = route.body === undefined ? [] : ['BodyTooLarge', ...ofJson]
  return Array.from(new Set([...OF_ACCESS[route.access], ...ofForm, ...ofBody, ...route.refusals, 'TooManyRequests' as const, 'InternalError' as const]))
}

interface DescribedRefusal {
  readonly tag: RefusalTag
  readonly response: ErrorResponse
}

/** The refusals of a route by status; those that answer the same are told once. */
export const refusalsByStatus = (route: Route): ReadonlyMap<number, ReadonlyArray<DescribedRefusal>> => {
  const byStatus = new Map<number, ReadonlyArray<DescribedRefusal>>()
  for (const tag of refusalsOf(route)) {
    const response = exampleResponse(tag)
    const known = byStatus.get(response.status) ?? []
    const isNew = known.every((other) => JSON.stringify(other.response.body) !== JSON.stringify(response.body))
    byStatus.set(response.status, isNew ? [...known, { tag, response }] : known)
  }
  return byStatus
}
