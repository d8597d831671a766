import { v7 } from 'uuid'
import type { EventStore } from '../application/ports/event-store.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../domain/live/settings.ts'
import { orThrow } from '../domain/shared/or-throw.ts'
import { EVENT_TIME } from './log-of-lives.ts'

export const EVENTS_PER_USER = 4
const USERS_AT_ONCE = 250

const metadata = { correlationId: v7(), causationId: v7(), actor: 'user:1', recordedAt: EVENT_TIME }

/**
 * Returns the stored events of a user with an API token, by stream. The sealed values are fake and cannot be decrypted.
 */
const historyOf = (userId: number) => {
  const sealed = { k: `user-${userId}`, iv: 'A'.repeat(16), c: 'A'.repeat(160) }
  const about = { userId, at: EVENT_TIME }
  const usernameHash = `bench-${userId}`.padEnd(43, '-')
  const limits = { permissions: [], maxSessions: 10, maxTranslations: 5 }
  const prefix = `lt_${String(userId).padStart(12, '0')}`
  return [
    [`username-${usernameHash}`, 'UsernameClaimed', about],
    [`user-${userId}`, 'UserRegistered', { ...about, ...limits, username: sealed, usernameHash, passwordHash: sealed }],
    [`profiles-${userId}`, 'ProfileAdded', {
      ...about, profileId: userId, name: sealed, settings: DEFAULT_ENGINE_SETTINGS,
    }],
    [
      `api-token-${userId}`, 'ApiTokenIssued',
      { ...about, tokenId: userId, name: sealed, prefix, secretHash: 'A'.repeat(43), expiresAt: null },
    ],
  ] as const
}

/**
 * Appends the histories of `count` users with ids from `first`. The ids of tokens and profiles are equal to the user
 * ids.
 */
export const fillWithUsers = async (store: EventStore, count: number, first: number): Promise<void> => {
  for (let from = first; from < first + count; from += USERS_AT_ONCE) {
    const ids = Array.from({ length: Math.min(USERS_AT_ONCE, first + count - from) }, (_, n) => from + n)
    const appends = ids.flatMap(historyOf).map(([stream, type, data]) =>
      store.append(stream, 'no-stream', [{ id: v7(), type, data, metadata }]))
    for (const appended of await Promise.all(appends)) orThrow(appended)
  }
}
