import type { EngineSettings } from '../domain/live/settings.ts'
import type { UserChanges } from '../domain/user/decider.ts'
import type { Permission } from '../domain/user/events.ts'

export interface NewUser {
  readonly username: string
  readonly password: string
  readonly permissions: ReadonlyArray<Permission>
  readonly maxSessions: number
  readonly maxTranslations: number
}

/** What an administrator changes; what is undefined stays. */
export interface ChangeUserRequest extends Omit<UserChanges, 'passwordHash'> {
  readonly password?: string | undefined
}

/** What of a profile changes: the members that were sent. */
export interface ProfileChange {
  readonly name?: string
  readonly settings: Partial<EngineSettings>
}

export interface NewApiToken {
  readonly name: string
  /** In D23's form; null for never. */
  readonly expiresAt: string | null
}

/** What of a token changes: the members that were sent. */
export interface ApiTokenChange {
  readonly name?: string
  readonly isActive?: boolean
}
