import type { Permission } from '../domain/user/events.ts'

/** Who asks, as authentication found it. */
export interface Caller {
  readonly userId: number
  readonly permissions: ReadonlyArray<Permission>
  readonly maxSessions: number
  readonly maxTranslations: number
  readonly credential: 'jwt' | 'api-key'
}
