import type { Option } from 'fp-ts/lib/Option.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { KEPT_IN_CLEAR, KEPT_SEALED, LiveCreatedData } from '../../domain/live/events.ts'
import type { EngineSettings } from '../../domain/live/settings.ts'
import type { GivenVocabulary } from '../../domain/live/vocabulary.ts'
import type { Permission } from '../../domain/user/events.ts'
import type { DocumentsUnavailable, Page, PageQuery } from './documents.ts'
import type { StoreUnavailable } from './event-store.ts'
import type { KeyringUnavailable } from './keyring.ts'

export type LiveStatus = 'pending' | 'active' | 'finished' | 'error'
export const LIVE_STATUSES: ReadonlyArray<LiveStatus> = ['pending', 'active', 'finished', 'error']

/** A session without its secrets. */
export interface LiveFacts extends Pick<LiveCreatedData, (typeof KEPT_IN_CLEAR)[number]> {
  readonly id: number
  readonly status: LiveStatus
  readonly autoStartPid: number | null
  /** Reserved megabytes. 0 after the end. */
  readonly vram: number
  readonly createdAt: string
  readonly updatedAt: string | null
}

/** A session as its owner sees it, with opened secrets. */
export interface LiveView extends LiveFacts, Pick<LiveCreatedData, (typeof KEPT_SEALED)[number]> {}

/** Reads a session from the log, for a list that lags behind it or is unavailable. */
export type UnlistedLive = (
  liveId: number,
) => Promise<Either<StoreUnavailable | KeyringUnavailable, Option<LiveView>>>

/** Reads a session of any user, without its secrets. */
export type FactsOfLive = (
  liveId: number,
) => Promise<Either<StoreUnavailable | KeyringUnavailable, Option<LiveFacts>>>

/** An administrator's filter for sessions. */
export interface AllLivesQuery {
  /** Null: all users. */
  readonly userId: number | null
  /** An empty list means all statuses. */
  readonly statuses: ReadonlyArray<LiveStatus>
}

/** Reads a page of the sessions of all users or one user, newest first. */
export type PageOfAllLives = (
  query: AllLivesQuery,
  page: PageQuery,
) => Promise<Either<DocumentsUnavailable, Page<LiveFacts>>>

export type SocketRole = 'sender' | 'listener'

/** The session and the role of a socket token. */
export interface ResolvedToken {
  readonly liveId: number
  readonly role: SocketRole
  readonly status: LiveStatus
}

/**
 * Finds the listed session of the socket token with this keyed hash. A token may belong to several sessions. Without
 * `liveId` the newest open session is returned, or the newest session if no session is open.
 */
export type FindListedToken = (
  hash: string,
  liveId: number | null,
) => Promise<Either<DocumentsUnavailable, Option<ResolvedToken>>>

/**
 * Finds the newest session whose token has this keyed hash, among the sessions that the list of tokens does not contain
 * yet. Left: the log cannot be read, or the list is too far behind.
 */
export type FindUnlistedLive = (hash: string) =>
  Promise<Either<DocumentsUnavailable | StoreUnavailable, Option<number>>>

/** The owner and the role of a socket token. */
export interface TokenHolder {
  readonly userId: number
  readonly role: SocketRole
}

/** Finds the owner of the token with this keyed hash. All sessions of a token belong to one user. */
export type HolderOfToken = (hash: string) => Promise<Either<DocumentsUnavailable, Option<TokenHolder>>>

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
  /** Absent when none was sent. */
  readonly vocabulary?: GivenVocabulary
}

/** An API token without its secret and its hash. */
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

/** Reads a page of the API tokens of a user, or of all users (null), newest first. */
export type PageOfTokens = (
  userId: number | null,
  page: PageQuery,
) => Promise<Either<DocumentsUnavailable | KeyringUnavailable, Page<ApiTokenView>>>

/** Reads the ids of a user's listed resources of one kind. */
export type IdsOfUser = (userId: number) => Promise<Either<DocumentsUnavailable, ReadonlyArray<number>>>

/** Finds the id of the listed API token with this public part. */
export type TokenIdByPrefix = (prefix: string) => Promise<Either<DocumentsUnavailable, Option<number>>>
