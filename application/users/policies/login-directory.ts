import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { loginTokenStream } from '../../../domain/login/events.ts'
import type { Unavailable } from '../../errors.ts'
import { followLog } from '../../log/follow-log.ts'
import type { FollowDeps, Follower } from '../../log/follow-log.ts'
import { createRemembered } from '../../log/remembered.ts'
import type { EventStore } from '../../ports/event-store.ts'

export interface LoginDirectoryDeps extends FollowDeps {
  readonly store: Pick<EventStore, 'read' | 'subscribe'>
}

/** Which login tokens were logged out, by their own streams. */
export interface LoginDirectory extends Follower {
  /** From memory, but for a token that was not shown lately. Left where that cannot be told now. */
  readonly isLoggedOut: (tokenId: string) => TaskEither<Unavailable, boolean>
}

/** Tokens that are remembered: more than are shown in an hour. */
const MOST = 20_000

/** Follows the tokens' streams until the signal. */
export const startLoginDirectory = (deps: LoginDirectoryDeps): LoginDirectory => {
  const tokens = createRemembered<Unavailable, boolean>({
    most: MOST,
    load: (stream) => async () => {
      const found = await deps.store.read(stream, { limit: 1 })()
      if (E.isRight(found)) return E.right(found.right.length > 0)
      // Nothing but a log-out is ever written there: what is damaged was one.
      return found.left._tag === 'LogCorrupted' ? E.right(true) : E.left(found.left)
    },
    isWorthKeeping: () => true,
  })
  const follower = followLog(deps, {
    who: 'the login directory',
    prefixes: [loginTokenStream('')],
    hear: (stream) => tokens.forget(stream),
  })
  return { ...follower, isLoggedOut: (tokenId) => tokens.of(loginTokenStream(tokenId)) }
}
