import { ERASED } from '../../domain/shared/event.ts'
import type { User } from '../../domain/user/decider.ts'
import type { Caller } from '../caller.ts'
import type { UserView } from '../ports/read-models.ts'

export const isActive = (user: User): boolean => user.status === 'active'

/** An erased password is none: what it reads as is not the hash of anything. */
export const hasPassword = (user: User): boolean => user.passwordHash !== ERASED

export const callerOf = (user: User, credential: Caller['credential']): Caller => ({
  userId: user.userId,
  permissions: user.permissions,
  maxSessions: user.maxSessions,
  maxTranslations: user.maxTranslations,
  credential,
})

/** A user as administrators and the user see it: nothing of the password. */
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
