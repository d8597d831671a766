import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { pipe } from 'fp-ts/lib/function.js'
import { ApiTokenIssued, apiTokenEvents, apiTokenStream } from '../../../domain/api-token/events.ts'
import { eventReader } from '../../../domain/read-event.ts'
import type { StoredEventOf } from '../../../domain/shared/event.ts'
import type { Unavailable } from '../../errors.ts'
import { followLog } from '../../log/follow-log.ts'
import type { FollowDeps, Follower } from '../../log/follow-log.ts'
import { readAround } from '../../log/read-around.ts'
import { createRemembered } from '../../log/remembered.ts'
import type { EventStore } from '../../ports/event-store.ts'
import type { TokenIdByPrefix } from '../../ports/read-models.ts'
import { createRecent } from '../../recent.ts'

/** An API token as far as who presents one needs it. */
export interface KnownToken {
  readonly tokenId: number
  readonly userId: number
  readonly prefix: string
  readonly secretHash: string
  readonly isActive: boolean
  readonly expiresAt: string | null
}

export interface TokenDirectoryDeps extends FollowDeps {
  readonly store: EventStore
  /** Knows at least all that were issued up to `from`, or says that it does not. */
  readonly tokenIdByPrefix: TokenIdByPrefix
}

/** None where there is no such token, or not any more; Left where that cannot be told now. */
type FindToken<By> = (by: By) => TaskEither<Unavailable, Option<KnownToken>>

/**
 * API tokens by their own streams. Who was asked for lately is answered from memory, by the last known state while a
 * store is away, and a change is known as soon as the log tells of it.
 */
export interface TokenDirectory extends Follower {
  readonly byId: FindToken<number>
  /** By the public part of the secret. */
  readonly byPrefix: FindToken<string>
}

/** Tokens that are remembered: more than are used in an hour. */
const MOST = 20_000

const tokenEvent = eventReader(apiTokenEvents)
const issued = eventReader([ApiTokenIssued])

/** No name is opened: nobody is recognised by it. */
const evolve = (
  token: KnownToken | null,
  event: StoredEventOf<(typeof apiTokenEvents)[number]>,
): KnownToken | null => {
  switch (event.type) {
    case 'ApiTokenIssued': {
      const { tokenId, userId, prefix, secretHash, expiresAt } = event.data
      return { tokenId, userId, prefix, secretHash, isActive: true, expiresAt }
    }
    case 'ApiTokenDeactivated':
      return token && { ...token, isActive: false }
    case 'ApiTokenActivated':
      return token && { ...token, isActive: true }
    case 'ApiTokenRevoked':
      return null
    case 'ApiTokenRenamed':
      return token
    default:
      return event satisfies never
  }
}

/** Follows the tokens' streams until the signal. */
export const startTokenDirectory = (deps: TokenDirectoryDeps): TokenDirectory => {
  const tokens = createRemembered({
    most: MOST,
    load: (stream) =>
      pipe(
        readAround(deps.store, stream),
        TE.map(({ events }) =>
          events.flatMap((event) => tokenEvent(event) ?? []).reduce<KnownToken | null>(evolve, null)),
      ),
    isWorthKeeping: (token) => token !== null,
  })
  // A prefix is one token's for ever.
  const ids = createRecent<string, number>(MOST)
  const idOf: TokenIdByPrefix = (prefix) => {
    const known = ids.get(prefix)
    return known === undefined ? deps.tokenIdByPrefix(prefix) : TE.right(O.some(known))
  }
  const byId: FindToken<number> = (tokenId) => pipe(tokens.of(apiTokenStream(tokenId)), TE.map(O.fromNullable))
  const follower = followLog(deps, {
    who: 'the token directory',
    prefixes: ['api-token-'],
    hear: (stream, event) => {
      tokens.forget(stream)
      const said = event === null ? undefined : issued(event)
      if (said !== undefined) ids.set(said.data.prefix, said.data.tokenId)
    },
  })
  return {
    ...follower,
    byId,
    byPrefix: (prefix) =>
      pipe(
        idOf(prefix),
        TE.chainW(O.match(() => TE.right(O.none), byId)),
        TE.map((token) => {
          if (O.isSome(token)) ids.set(prefix, token.value.tokenId)
          return token
        }),
      ),
  }
}
