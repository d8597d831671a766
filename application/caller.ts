import type { Permission } from '../domain/user/events.ts'
import type { ShownJwt } from './ports/credentials.ts'

/** Who asks, as authentication found it. */
export interface Caller {
  readonly userId: number
  readonly permissions: ReadonlyArray<Permission>
  readonly maxSessions: number
  readonly maxTranslations: number
  /** `operator`: whoever may use the data directory, through the socket in it. */
  readonly credential: 'jwt' | 'api-key' | 'operator'
  /** Of the credential `jwt`: the token that was shown. */
  readonly login?: Pick<ShownJwt, 'tokenId' | 'expiresAt'>
}

/** Who acts, for the metadata of the events. */
export const actorOf = ({ credential, userId }: Caller): string => (credential === 'operator' ? 'operator' : `user:${userId}`)
