import * as t from 'io-ts'
import { boundedInteger, id, instant } from '../shared/codecs.ts'
import { defineEvent, definePersonalEvent, type EventOf, type StoredEventOf } from '../shared/event.ts'

export const userStream = (userId: number): string => `user-${userId}`
export const userKey = (userId: number): string => `user-${userId}`
/** Keeps a username unique: `UsernameClaimed` is appended to an absent stream, or directly after `UsernameFreed`. */
export const usernameStream = (usernameHash: string): string => `username-${usernameHash}`

export const permission = t.keyof({ user_retention: null, admin: null })
export type Permission = t.TypeOf<typeof permission>

export const UserRegistered = definePersonalEvent(
  'UserRegistered',
  t.strict({
    userId: id,
    username: t.string,
    usernameHash: t.string,
    /** argon2id, in PHC string format. */
    passwordHash: t.string,
    permissions: t.readonlyArray(permission),
    maxSessions: boundedInteger(0, 1e6),
    maxTranslations: boundedInteger(0, 1e6),
    at: instant,
  }),
  ['username', 'passwordHash'],
  (data) => userKey(data.userId),
)

/** `generation` rises by one, so all earlier login tokens are refused. */
export const PasswordChanged = definePersonalEvent(
  'PasswordChanged',
  t.strict({ userId: id, passwordHash: t.string, generation: boundedInteger(1, 1e9), at: instant }),
  ['passwordHash'],
  (data) => userKey(data.userId),
)

/** The same password, hashed with a higher cost. The generation stays, so logins stay valid. */
export const PasswordRehashed = definePersonalEvent(
  'PasswordRehashed',
  t.strict({ userId: id, passwordHash: t.string, at: instant }),
  ['passwordHash'],
  (data) => userKey(data.userId),
)

/** The user logged out everywhere, or is enabled again. `generation` rises by one, but the password stays. */
export const LoginsEnded = defineEvent(
  'LoginsEnded',
  t.strict({ userId: id, generation: boundedInteger(1, 1e9), at: instant }),
)

export const UserLimitsChanged = defineEvent(
  'UserLimitsChanged',
  t.strict({ userId: id, maxSessions: boundedInteger(0, 1e6), maxTranslations: boundedInteger(0, 1e6), at: instant }),
)
export const UserPermissionsChanged = defineEvent(
  'UserPermissionsChanged',
  t.strict({ userId: id, permissions: t.readonlyArray(permission), at: instant }),
)

export const UserDisabled = defineEvent('UserDisabled', t.strict({ userId: id, at: instant }))
export const UserEnabled = defineEvent('UserEnabled', t.strict({ userId: id, at: instant }))

/** The user was deleted. Afterwards the user's keys, sessions and tokens are removed, and the name is freed. */
export const UserDeleted = defineEvent('UserDeleted', t.strict({ userId: id, usernameHash: t.string, at: instant }))

export const userEvents = [
  UserRegistered, PasswordChanged, PasswordRehashed, LoginsEnded, UserLimitsChanged, UserPermissionsChanged,
  UserDisabled, UserEnabled, UserDeleted,
] as const
export type UserEvent = EventOf<(typeof userEvents)[number]>
export type StoredUserEvent = StoredEventOf<(typeof userEvents)[number]>

export const UsernameClaimed = defineEvent('UsernameClaimed', t.strict({ userId: id, at: instant }))
/** The owner of the name was deleted. Another user may claim it. */
export const UsernameFreed = defineEvent('UsernameFreed', t.strict({ userId: id, at: instant }))
export type UsernameEvent = EventOf<typeof UsernameClaimed | typeof UsernameFreed>
