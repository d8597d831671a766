import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import { ApiTokenUsed, apiTokenEvents } from '../../../domain/api-token/events.ts'
import type { StoredApiTokenEvent } from '../../../domain/api-token/events.ts'
import { reading } from '../../../domain/read-event.ts'
import { followLog } from '../../log/follow-log.ts'
import type { FollowDeps } from '../../log/follow-log.ts'
import type { Position } from '../../ports/event-store.ts'

/** An API token as far as who presents one needs it. */
export interface KnownToken {
  readonly tokenId: number
  readonly userId: number
  readonly prefix: string
  readonly secretHash: string
  readonly isActive: boolean
  readonly expiresAt: string | null
  /** The last use that was recorded. */
  readonly lastUsedAt: string | null
}

/** Every API token that is not revoked, in memory: who presents one is answered without a store, and at once refused when it ends. */
export interface TokenDirectory {
  readonly byId: (tokenId: number) => Option<KnownToken>
  /** By the public part of the secret. */
  readonly byPrefix: (prefix: string) => Option<KnownToken>
  readonly countOf: (userId: number) => number
  /** Resolves once all tokens of the log are known. */
  readonly ready: () => Promise<void>
  /** Resolves once the event of a token's stream at `position` is known, or after 2 s. */
  readonly whenSeen: (position: Position) => Promise<void>
  readonly stopped: Promise<void>
}

const tokenEvent = reading([...apiTokenEvents, ApiTokenUsed])

const createRoster = () => {
  const tokens = new Map<number, KnownToken>()
  const idsByPrefix = new Map<string, number>()
  const counts = new Map<number, number>()

  const byId = (tokenId: number): Option<KnownToken> => O.fromNullable(tokens.get(tokenId))
  const countOf = (userId: number): number => counts.get(userId) ?? 0
  const change = (tokenId: number, members: Partial<KnownToken>): void => {
    const token = tokens.get(tokenId)
    if (token !== undefined) tokens.set(tokenId, { ...token, ...members })
  }
  const remove = (tokenId: number): void => {
    const token = tokens.get(tokenId)
    if (token === undefined) return
    tokens.delete(tokenId)
    idsByPrefix.delete(token.prefix)
    counts.set(token.userId, countOf(token.userId) - 1)
  }
  const add = (event: StoredApiTokenEvent): void => {
    const { tokenId } = event.data
    switch (event.type) {
      case 'ApiTokenIssued': {
        const { userId, prefix, secretHash, expiresAt } = event.data
        remove(tokenId)
        tokens.set(tokenId, { tokenId, userId, prefix, secretHash, isActive: true, expiresAt, lastUsedAt: null })
        idsByPrefix.set(prefix, tokenId)
        counts.set(userId, countOf(userId) + 1)
        return
      }
      case 'ApiTokenDeactivated':
        return change(tokenId, { isActive: false })
      case 'ApiTokenActivated':
        return change(tokenId, { isActive: true })
      case 'ApiTokenUsed':
        return change(tokenId, { lastUsedAt: event.data.at })
      case 'ApiTokenRevoked':
        return remove(tokenId)
      case 'ApiTokenRenamed':
        return
      default:
        return event satisfies never
    }
  }
  const byPrefix = (prefix: string): Option<KnownToken> => {
    const tokenId = idsByPrefix.get(prefix)
    return tokenId === undefined ? O.none : byId(tokenId)
  }
  return { byId, byPrefix, countOf, add }
}

/** Follows the tokens' streams until the signal. No name is opened: nobody is recognised by it. */
export const startTokenDirectory = (deps: FollowDeps): TokenDirectory => {
  const { byId, byPrefix, countOf, add } = createRoster()
  const follower = followLog(deps, {
    who: 'the token directory',
    prefixes: ['api-token-', 'token-use-'],
    take: async (events) => {
      for (const event of events) {
        const said = tokenEvent(event)
        if (said !== undefined) add(said)
      }
    },
  })
  return { byId, byPrefix, countOf, ...follower }
}
