import type { Option } from 'fp-ts/lib/Option.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { AudioFormat } from '../../domain/live/events.ts'
import type { EngineSettings } from '../../domain/live/settings.ts'
import type { GivenVocabulary } from '../../domain/live/vocabulary.ts'
import type { Permission } from '../../domain/user/events.ts'
import type { DocumentsUnavailable, Page, PageQuery } from './documents.ts'
import type { StoredEvent } from './event-store.ts'
import type { KeyringUnavailable } from './keyring.ts'

export type LiveStatus = 'pending' | 'active' | 'finished' | 'error'
export const LIVE_STATUSES: ReadonlyArray<LiveStatus> = ['pending', 'active', 'finished', 'error']

/** How people asked for a live to look. */
interface LiveDisplay {
  readonly background_color: string | null
  readonly color_text: string | null
  readonly size_text: number | null
}

/** A pair that a live was made with, and its megabytes. */
interface LiveTranslation {
  readonly id: number
  readonly model: string
  readonly to: string
  readonly vram: number
  /** Where the language is found in the audio. */
  readonly from?: string
}

/** What was asked for when a live was made. */
interface LiveOrder {
  readonly model: { readonly id: number; readonly name: string; readonly vram: number }
  readonly language: string
  readonly translations: ReadonlyArray<LiveTranslation>
  readonly audioFormat: AudioFormat
  readonly audioUrlHash: string | null
  readonly autoStart: boolean
  readonly retention: boolean
  readonly config: EngineSettings
  readonly display: LiveDisplay | null
}

/** How it stands with a live. */
interface LiveStanding {
  readonly status: LiveStatus
  readonly autoStartPid: number | null
  /** Megabytes reserved, 0 once terminal (D25). */
  readonly vram: number
  readonly createdAt: string
  readonly updatedAt: string | null
}

/** Everything of a live but its secrets. */
export interface LiveFacts extends LiveOrder, LiveStanding {
  readonly id: number
  readonly userId: number
  readonly worker: string
}

/** A live as its owner sees it: secrets opened. */
export interface LiveView extends LiveFacts {
  readonly audioUrl: string | null
  readonly senderToken: string
  readonly listenerToken: string
  /** What speakers are likely to say; absent where nobody said. */
  readonly vocabulary?: GivenVocabulary
}

/** A live as its owner sees it, from the events of its stream. Throws on events that make no live: that is a defect. */
export type ViewOf = (events: ReadonlyArray<StoredEvent>) => TaskEither<KeyringUnavailable, LiveView>

/** A live without its secrets, from the events of its stream; null where these make none. */
export type FactsOf = (events: ReadonlyArray<StoredEvent>) => LiveFacts | null

/** A live, whosoever it is, without its secrets. */
export type FactsOfLive = (liveId: number) => TaskEither<DocumentsUnavailable, Option<LiveFacts>>

/** Of which lives an administrator wants to know. */
export interface AllLivesQuery {
  /** Null: of all users. */
  readonly userId: number | null
  /** None means all. */
  readonly statuses: ReadonlyArray<LiveStatus>
}

/** A page of lives, whosoever they are, newest first. */
export type PageOfAllLives = (
  query: AllLivesQuery,
  page: PageQuery,
) => TaskEither<DocumentsUnavailable, Page<LiveFacts>>

export type SocketRole = 'sender' | 'listener'

/** What a socket token opens. */
export interface ResolvedToken {
  readonly liveId: number
  readonly role: SocketRole
  readonly status: LiveStatus
}

/** What a socket token opens: of the live `liveId` alone; without it of the newest open one, else of the newest. */
export type ResolveToken = (
  token: string,
  liveId: number | null,
) => TaskEither<DocumentsUnavailable, Option<ResolvedToken>>

/** Whose a socket token is, and for which side of a live. */
export interface TokenHolder {
  readonly userId: number
  readonly role: SocketRole
}

/** Who holds the token with this keyed hash: all lives that it opens are of one user. */
export type HolderOfToken = (hash: string) => TaskEither<DocumentsUnavailable, Option<TokenHolder>>

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
  /** Absent where nobody sent any. */
  readonly vocabulary?: GivenVocabulary
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

/** API tokens, newest first: of a user, or of all where that is null. */
export type PageOfTokens = (
  userId: number | null,
  page: PageQuery,
) => TaskEither<DocumentsUnavailable | KeyringUnavailable, Page<ApiTokenView>>

/** Ids of what a user has, of one kind, as the lists have them. */
export type IdsOfUser = (userId: number) => TaskEither<DocumentsUnavailable, ReadonlyArray<number>>

/** The id of the API token with this public part, none where the lists have no such token. */
export type TokenIdByPrefix = (prefix: string) => TaskEither<DocumentsUnavailable, Option<number>>
