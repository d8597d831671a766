import { type ErrorResponse, exampleResponse, type RefusalTag, UNAVAILABLE } from '../http/errors.ts'
import { type Access, type Route, usesBudget } from '../http/route.ts'

const ACCESS_REFUSALS: Readonly<Record<Access, ReadonlyArray<RefusalTag>>> = {
  public: [],
  private: ['NotAuthenticated', 'InvalidCredentials', ...UNAVAILABLE],
  login: ['NotAuthenticated', 'InvalidCredentials', 'ApiKeyNotAccepted', ...UNAVAILABLE],
  admin: ['NotAuthenticated', 'InvalidCredentials', 'ApiKeyNotAccepted', 'PermissionMissing', ...UNAVAILABLE],
}

/** Returns every refusal of a route: of access, of decoding, of its handler, and of all routes. */
const refusalsOf = (route: Route): ReadonlyArray<RefusalTag> => {
  const isDecoded = [route.params, route.query, route.headers, route.body].some((part) => part !== undefined)
  const ofDecoding: ReadonlyArray<RefusalTag> = isDecoded ? ['InvalidRequest'] : []
  const ofJson: ReadonlyArray<RefusalTag> = route.body?.kind === 'json' ? ['MediaTypeNotSupported'] : []
  const ofBody: ReadonlyArray<RefusalTag> =
    route.body === undefined ? [] : ['BodyTooLarge', ...ofJson, 'CharsetNotSupported', 'ContentEncodingNotSupported']
  const ofWrites: ReadonlyArray<RefusalTag> = usesBudget(route) ? ['DailyBudgetUsed'] : []
  const ofAllRoutes = ['TooManyRequests', 'InternalError'] as const
  const ofAccess = ACCESS_REFUSALS[route.access]
  return Array.from(new Set([...ofAccess, ...ofDecoding, ...ofBody, ...route.refusals, ...ofAllRoutes, ...ofWrites]))
}

interface DescribedRefusal {
  readonly tag: RefusalTag
  readonly response: ErrorResponse
}

/** Returns the refusals of a route by status. If several refusals have equal bodies, it contains only the first. */
export const refusalsByStatus = (route: Route): ReadonlyMap<number, ReadonlyArray<DescribedRefusal>> => {
  const byStatus = new Map<number, ReadonlyArray<DescribedRefusal>>()
  for (const tag of refusalsOf(route)) {
    const response = exampleResponse(tag)
    const refusals = byStatus.get(response.status) ?? []
    const isNew = refusals.every((other) => JSON.stringify(other.response.body) !== JSON.stringify(response.body))
    byStatus.set(response.status, isNew ? [...refusals, { tag, response }] : refusals)
  }
  return byStatus
}
