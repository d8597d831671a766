import * as E from 'fp-ts/lib/Either.js'
import type { Decider } from '../shared/decider.ts'
import type { ApiTokenUsed } from './events.ts'

/** What every API token begins with; no JWT does. */
const MARK = 'lt_'
/** Of the mark and the public id. */
const PREFIX_LENGTH = 15
const SECRET = /^lt_[0-9A-Za-z]{12}_[0-9A-Za-z]{43}$/

/** Whether a bearer token is meant to be an API token. */
export const looksLikeApiToken = (text: string): boolean => text.startsWith(MARK)

/** The public part of a secret, null for what cannot be one. */
export const prefixOfSecret = (secret: string): string | null => (SECRET.test(secret) ? secret.slice(0, PREFIX_LENGTH) : null)

/** Instants in D23's form compare as text. */
export const hasExpired = (expiresAt: string | null, at: string): boolean => expiresAt !== null && expiresAt <= at

/** Of one user, whether active or not. A larger set, of before there was a limit, can be used, changed and made smaller. */
export const MAX_API_TOKENS = 100

const USE_INTERVAL_MS = 60_000

/** A use within a minute of the last one that was recorded says nothing new. */
export const isWorthRecording = (lastUsedAt: string | null, at: string): boolean =>
  lastUsedAt === null || Date.parse(at) - Date.parse(lastUsedAt) >= USE_INTERVAL_MS

/** The uses of one token, at most one a minute; the state is the last one. */
export const tokenUseDecider: Decider<string | null, ApiTokenUsed['data'], ApiTokenUsed, never> = {
  initialState: null,
  evolve: (_, event) => event.data.at,
  decide: (data, lastUsedAt) => E.right(isWorthRecording(lastUsedAt, data.at) ? [{ type: 'ApiTokenUsed', data }] : []),
}
