import * as E from 'fp-ts/lib/Either.js'
import type { Decider } from '../shared/decider.ts'
import type { ApiTokenUsed } from './events.ts'

/** Every API token begins with this text. A JWT never does. */
const TOKEN_START = 'lt_'
/** Length of the public part: `lt_` and 12 characters. */
const PREFIX_LENGTH = 15
const SECRET = /^lt_[0-9A-Za-z]{12}_[0-9A-Za-z]{43}$/

/** True when a bearer token begins like an API token. */
export const looksLikeApiToken = (text: string): boolean => text.startsWith(TOKEN_START)

/** Returns the public part of a secret, or null when the text cannot be a secret. */
export const prefixOfSecret = (secret: string): string | null =>
  SECRET.test(secret) ? secret.slice(0, PREFIX_LENGTH) : null

/**
 * True when the token has expired at the instant `at`. All instants have the same form, so they are compared as text.
 */
export const hasExpired = (expiresAt: string | null, at: string): boolean => expiresAt !== null && expiresAt <= at

/**
 * Limit for one user, counting inactive tokens. Users from early versions may have more tokens. They keep them, but
 * cannot add any.
 */
export const MAX_API_TOKENS = 100

const USE_INTERVAL_MS = 60_000

/**
 * Returns the milliseconds until another use may be recorded: a minute after the last one. A last use that lies ahead
 * was recorded with a wrong clock and delays nothing.
 */
export const untilNextUse = (lastUsedAt: string | null, at: string): number => {
  const elapsed = lastUsedAt === null ? Infinity : Date.parse(at) - Date.parse(lastUsedAt)
  return elapsed < 0 ? 0 : Math.max(0, USE_INTERVAL_MS - elapsed)
}

/** Records at most one use of a token each minute. The state is the time of the last recorded use. */
export const tokenUseDecider: Decider<string | null, ApiTokenUsed['data'], ApiTokenUsed, never> = {
  initialState: null,
  evolve: (_, event) => event.data.at,
  decide: (data, lastUsedAt) =>
    E.right(untilNextUse(lastUsedAt, data.at) === 0 ? [{ type: 'ApiTokenUsed', data }] : []),
}
