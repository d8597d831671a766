import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { AudioFormat } from '../../domain/live/events.ts'
import type { EngineSettings } from '../../domain/live/settings.ts'
import type { Envelope } from '../../domain/shared/event.ts'
import type { Permission } from '../../domain/user/events.ts'
import type { DocumentsUnavailable } from './documents.ts'

/** Names of the collections; their documents' types follow. */
export const LIVES = 'lives'
export const LIVE_TOKENS = 'live-tokens'
export const LIVE_COUNTS = 'live-counts'
/** The lives of all users by status: one document, ALL_LIVES, like that of a user. */
export const LIVE_TOTALS = 'live-totals'
export const ALL_LIVES = 'all'

export type LiveStatus = 'pending' | 'active' | 'finished' | 'error'
export const LIVE_STATUSES: ReadonlyArray<LiveStatus> = ['pending', 'active', 'finished', 'error']

/** Everything of a live but its secrets. */
export interface LiveFacts {
  readonly id: number
  readonly userId: number
  readonly status: LiveStatus
  readonly worker: string
  readonly model: { readonly id: number; readonly name: string; readonly vram: number }
  readonly language: string
  readonly translations: ReadonlyArray<{ readonly id: number; readonly model: string; readonly to: string; readonly vram: number }>
  readonly audioFormat: AudioFormat
  readonly audioUrlHash: string | null
  readonly autoStart: boolean
  readonly autoStartPid: number | null
  readonly retention: boolean
  /** Megabytes reserved, 0 once terminal (D25). */
  readonly vram: number
  readonly config: EngineSettings
  readonly display: { readonly background_color: string | null; readonly color_text: string | null; readonly size_text: number | null } | null
  readonly createdAt: string
  readonly updatedAt: string | null
}

/** A live as the read model holds it: `_id` is the id as text; personal members sealed. */
export interface LiveDocument extends LiveFacts {
  readonly audioUrl: Envelope | null
  readonly senderToken: Envelope
  readonly listenerToken: Envelope
}

/** A live as its owner sees it: secrets opened. */
export interface LiveView extends LiveFacts {
  readonly audioUrl: string | null
  readonly senderToken: string
  readonly listenerToken: string
}

export type SocketRole = 'sender' | 'listener'

/** One of a live's two tokens; id `<liveId>-<role>`. A custom listener token's hash may belong to several lives of one user. */
export interface LiveTokenDocument {
  readonly liveId: number
  readonly userId: number
  readonly role: SocketRole
  readonly hash: string
}

/** A user's lives by status (id: the user's id as text; userId 0 stands for all users), folded from events alone: open ones by id, ended ones as totals. */
export interface LiveCountsDocument {
  readonly userId: number
  readonly pending: ReadonlyArray<number>
  readonly active: ReadonlyArray<number>
  readonly finished: number
  readonly error: number
}

export interface UserFacts {
  readonly id: number
  readonly permissions: ReadonlyArray<Permission>
  readonly maxSessions: number
  readonly maxTranslations: number
  readonly isActive: boolean
  readonly createdAt: string
  readonly updatedAt: string | null
}

export interface UserView extends UserFacts {
  readonly username: string
}

export interface ProfileFacts {
  readonly id: number
  readonly settings: EngineSettings
  readonly createdAt: string
  readonly updatedAt: string | null
}

export interface ProfileView extends ProfileFacts {
  readonly name: string
}

/** An API token without its secret and the hash of it. */
export interface ApiTokenFacts {
  readonly id: number
  readonly userId: number
  readonly prefix: string
  readonly isActive: boolean
  readonly expiresAt: string | null
  readonly lastUsedAt: string | null
  readonly createdAt: string
}

export interface ApiTokenView extends ApiTokenFacts {
  readonly name: string
}

/** Ids of what a user has, of one kind, as the lists have them. */
export type IdsOfUser = (userId: number) => TaskEither<DocumentsUnavailable, ReadonlyArray<number>>
