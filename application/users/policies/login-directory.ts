import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { loginTokenStream } from '../../../domain/login/events.ts'
import type { Unavailable } from '../../refusals.ts'
import { type FollowDeps, type Follower, followLog } from '../../log/follow-log.ts'
import { createStreamCache } from '../../log/stream-cache.ts'
import type { EventStore } from '../../ports/event-store.ts'

export interface LoginDirectoryDeps extends FollowDeps {
  readonly store: Pick<EventStore, 'read' | 'subscribe'>
}

/** Finds out from the streams of login tokens whether a token was logged out. */
export interface LoginDirectory extends Follower {
  /** Answers from memory for recently used tokens. Left: this cannot be determined at the moment. */
  readonly isLoggedOut: (tokenId: string) => Promise<Either<Unavailable, boolean>>
}

/** Number of tokens that are kept in memory: more than are used within an hour. */
const MAX_REMEMBERED = 20_000

/** Follows the streams of login tokens until `signal` aborts. */
export const startLoginDirectory = (deps: LoginDirectoryDeps): LoginDirectory => {
  const tokens = createStreamCache<Unavailable, boolean>({
    maxStreams: MAX_REMEMBERED,
    load: async (stream) => {
      const found = await deps.store.read(stream, { limit: 1 })
      if (E.isRight(found)) return E.right(found.right.length > 0)
      // These streams contain only log-outs, so a damaged event was a log-out.
      return found.left._tag === 'LogCorrupted' ? E.right(true) : E.left(found.left)
    },
    isWorthKeeping: () => true,
  })
  const follower = followLog(deps, {
    name: 'the login directory',
    prefixes: [loginTokenStream('')],
    onEvent: (stream) => tokens.forget(stream),
  })
  return { ...follower, isLoggedOut: (tokenId) => tokens.get(loginTokenStream(tokenId)) }
}
