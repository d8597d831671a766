import { ERASED } from '../../domain/shared/event.ts'
import type { User } from '../../domain/user/decider.ts'
import type { Caller } from '../caller.ts'
import type { UserView } from '../ports/read-models.ts'

export const isActive = (user: User): boolean => user.status === 'active'

/** Returns whether the user has a readable password hash. An erased hash reads `[erased]`. */
export const hasPassword = (user: User): boolean => user.passwordHash !== ERASED

export const callerOf = (user: User, credential: Caller['credential']): Caller => ({
  userId: user.userId,
  permissions: user.permissions,
  maxSessions: user.maxSessions,
  maxTranslations: user.maxTranslations,
  credential,
})

/** Returns the public members of a user, without the password hash. */
export const userViewOf = (user: User): UserView => ({
  id: user.userId,
  username: user.username,
  permissions: user.permissions,
  maxSessions: user.maxSessions,
  maxTranslations: user.maxTranslations,
  isActive: isActive(user),
  createdAt: user.createdAt,
  updatedAt: user.updatedAt,
})
