import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import { type ApiToken, apiTokenDecider, type ApiTokenState } from '../../../domain/api-token/decider.ts'
import { type ApiTokenEvent, ApiTokenIssued, apiTokenStream } from '../../../domain/api-token/events.ts'
import { eventReader } from '../../../domain/read-event.ts'
import type { Unavailable } from '../../refusals.ts'
import { type FollowDeps, type Follower, followLog } from '../../log/follow-log.ts'
import { type LoadDeps, loadReadable } from '../../log/states/load-state.ts'
import { createStreamCache } from '../../log/stream-cache.ts'
import type { EventStore } from '../../ports/event-store.ts'
import type { TokenIdByPrefix } from '../../ports/read-models.ts'
import { createLruCache } from '../../lru-cache.ts'

export interface TokenDirectoryDeps extends FollowDeps, Pick<LoadDeps, 'keyring' | 'states'> {
  readonly store: EventStore
  /**
   * Finds tokens that were issued before this process followed the log (up to `from`). Left: the read model does not
   * contain all of them yet.
   */
  readonly tokenIdByPrefix: TokenIdByPrefix
}

/** None: the token is unknown or revoked. Left: this cannot be determined at the moment. */
type FindToken<By> = (by: By) => Promise<Either<Unavailable, Option<ApiToken>>>

/**
 * Finds API tokens in their own streams. Recently used tokens are kept in memory. While the store is unavailable, their
 * last known state is used. A change takes effect as soon as this process receives its event.
 */
export interface TokenDirectory extends Follower {
  readonly byId: FindToken<number>
  /** Finds a token by the public part of its secret. */
  readonly byPrefix: FindToken<string>
}

/** Number of tokens that are kept in memory: more than are used within an hour. */
const MAX_REMEMBERED = 20_000

const readIssued = eventReader([ApiTokenIssued])

/** Follows the streams of API tokens until `signal` aborts. */
export const startTokenDirectory = (deps: TokenDirectoryDeps): TokenDirectory => {
  const tokens = createStreamCache({
    maxStreams: MAX_REMEMBERED,
    load: async (stream) =>
      pipe(
        await loadReadable(deps)<ApiTokenState, ApiTokenEvent>(stream, apiTokenDecider),
        E.map(({ state }) => state),
      ),
    isWorthKeeping: ({ status }) => status === 'issued',
  })
  // The ids can be cached, because a prefix always belongs to the same token.
  const ids = createLruCache<string, number>(MAX_REMEMBERED)
  const idOf: TokenIdByPrefix = async (prefix) => {
    const known = ids.get(prefix)
    return known === undefined ? deps.tokenIdByPrefix(prefix) : E.right(O.some(known))
  }
  const byId: FindToken<number> = async (tokenId) =>
    pipe(
      await tokens.get(apiTokenStream(tokenId)),
      E.map((state) => (state.status === 'issued' ? O.some(state) : O.none)),
    )
  const follower = followLog(deps, {
    name: 'the token directory',
    prefixes: ['api-token-'],
    onEvent: (stream, event) => {
      tokens.forget(stream)
      const issuedEvent = event === null ? undefined : readIssued(event)
      if (issuedEvent !== undefined) ids.set(issuedEvent.data.prefix, issuedEvent.data.tokenId)
    },
  })
  return {
    ...follower,
    byId,
    byPrefix: async (prefix) => {
      const id = await idOf(prefix)
      if (E.isLeft(id)) return id
      if (O.isNone(id.right)) return E.right(O.none)
      const token = await byId(id.right.value)
      if (E.isRight(token) && O.isSome(token.right)) ids.set(prefix, token.right.value.tokenId)
      return token
    },
  }
}
