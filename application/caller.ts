import type { Permission } from '../domain/user/events.ts'
import type { ShownJwt } from './ports/credentials.ts'

/** The authenticated sender of a request. */
export interface Caller {
  readonly userId: number
  readonly permissions: ReadonlyArray<Permission>
  readonly maxSessions: number
  readonly maxTranslations: number
  /** `operator`: the command line, through the control socket in the data directory. */
  readonly credential: 'jwt' | 'api-key' | 'operator'
  /** The login token. Present only for the credential `jwt`. */
  readonly login?: Pick<ShownJwt, 'tokenId' | 'expiresAt'>
}

/** Returns the actor for the metadata of events. */
export const actorOf = ({ credential, userId }: Caller): string =>
  credential === 'operator' ? 'operator' : `user:${userId}`
