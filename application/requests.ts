import type { AudioFormat } from '../domain/live/events.ts'
import type { EngineSettings } from '../domain/live/settings.ts'
import type { TranscriptSegment } from '../domain/transcript/subtitles.ts'
import type { UserChanges } from '../domain/user/decider.ts'
import type { Permission } from '../domain/user/events.ts'
import type { LiveFacts } from './ports/read-models.ts'

/** A well-formed request for a live: defaults filled in, bounds checked. */
export interface CreateLiveRequest {
  readonly model: string
  readonly language: string
  readonly audioFormat: AudioFormat
  /** Null for raw. */
  readonly audioUrl: string | null
  /** Target codes as asked; duplicates are counted once, order kept (R55). */
  readonly translations: ReadonlyArray<string>
  readonly autoStart: boolean
  readonly retention: boolean
  readonly config: EngineSettings
  readonly display: LiveFacts['display']
  /** Custom listener token (D15), null for a random one. */
  readonly listenerToken: string | null
}

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

/** What a live that keeps its text has said so far, by segment; `language` is the spoken one. */
export interface Transcript {
  readonly language: string
  readonly segments: ReadonlyArray<TranscriptSegment>
}

/** One event of a live, secrets masked. */
export interface HistoryEntry {
  /** From 1. */
  readonly id: number
  readonly type: string
  readonly at: string
  readonly actor: string
  readonly data: Readonly<Record<string, unknown>>
}
