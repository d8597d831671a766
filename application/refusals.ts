import type { InsufficientCompute, InsufficientVram, NoWorker, QuotaReached } from '../domain/admission/decider.ts'
import type { ExpiryNotInFuture } from '../domain/api-token/decider.ts'
import type { LiveOver, Superseded } from '../domain/live/commands.ts'
import type { LastProfile } from '../domain/profiles/decider.ts'
import type { EventTypeUnknown } from '../domain/read-event.ts'
import type { LastAdministrator } from '../domain/user/decider.ts'
import type { TooBusy } from './ports/credentials.ts'
import type { DocumentsUnavailable } from './ports/documents.ts'
import type { LogCorrupted, StoreUnavailable } from './ports/event-store.ts'
import type { KeyErased, KeyMissing, KeyringUnavailable } from './ports/keyring.ts'

/** The refusals of requests. In their names, a live is a session. */

export type {
  ExpiryNotInFuture, InsufficientCompute, InsufficientVram, LastAdministrator, LastProfile, LiveOver, NoWorker,
  QuotaReached, Superseded,
}

/** A store is unavailable, or its data cannot be read. The answer is 503, and the outcome of a write is unknown. */
export type Unavailable =
  | StoreUnavailable
  | LogCorrupted
  | EventTypeUnknown
  | DocumentsUnavailable
  | KeyringUnavailable
  | KeyErased
  | KeyMissing
  | Contended

/** True for data that is damaged or written by a newer version. A retry does not help. */
export const isUnreadable = ({ _tag }: { readonly _tag: string }): boolean =>
  _tag === 'LogCorrupted' || _tag === 'EventTypeUnknown'

/** Other writers changed the stream before each of five attempts. */
export interface Contended {
  readonly _tag: 'Contended'
  readonly stream: string
}

export interface ModelNotFound { readonly _tag: 'ModelNotFound' }
export interface LanguageNotFound { readonly _tag: 'LanguageNotFound' }
export interface LanguageNotSupported {
  readonly _tag: 'LanguageNotSupported'
  readonly model: string
  readonly language: string
}
/** An English-only model cannot translate. */
export interface TaskNotSupported { readonly _tag: 'TaskNotSupported'; readonly model: string }
export interface TranslationNotFound {
  readonly _tag: 'TranslationNotFound'
  readonly from: string
  readonly to: string
}
export interface PairNotFound { readonly _tag: 'PairNotFound' }
export interface TooManyTranslations { readonly _tag: 'TooManyTranslations'; readonly maximum: number }
/** This process is about to stop, so it creates no sessions. */
export interface ShuttingDown { readonly _tag: 'ShuttingDown' }
/** Another user owns the custom listener token. */
export interface ListenerTokenTaken { readonly _tag: 'ListenerTokenTaken' }
/** Sources may not connect to the address of the audio URL. */
export interface AudioUrlForbidden { readonly _tag: 'AudioUrlForbidden' }
/** The settings require isolated decoders, but this machine cannot isolate them. No URL is pulled. */
export interface SourcesNotIsolated { readonly _tag: 'SourcesNotIsolated' }
export interface LiveNotFound { readonly _tag: 'LiveNotFound' }
export const liveNotFound: LiveNotFound = { _tag: 'LiveNotFound' }
/** The history of the session has no entry with this number. */
export interface EntryNotFound { readonly _tag: 'EntryNotFound' }
/** The session keeps no transcript, or its transcript was erased. */
export interface TranscriptNotFound { readonly _tag: 'TranscriptNotFound' }
export interface UsernameTaken { readonly _tag: 'UsernameTaken' }
export interface UserNotFound { readonly _tag: 'UserNotFound' }
export const userNotFound: UserNotFound = { _tag: 'UserNotFound' }
/** Demoting or disabling the last administrator is refused. */
export interface LastAdministratorChanged { readonly _tag: 'LastAdministratorChanged' }
/** The same error for unknown names, disabled users and wrong passwords, so logins reveal no names. */
export interface WrongLogin { readonly _tag: 'WrongLogin' }
/** A logged-in user entered a wrong old password. */
export interface WrongPassword { readonly _tag: 'WrongPassword' }
/** The client may try again after `seconds`. */
export interface TooManyRequests { readonly _tag: 'TooManyRequests'; readonly seconds: number }
/** The user has written as much as is allowed within a day. `seconds`: when the next day begins. */
export interface DailyBudgetUsed { readonly _tag: 'DailyBudgetUsed'; readonly seconds: number }
export interface ProfileNotFound { readonly _tag: 'ProfileNotFound' }
export const profileNotFound: ProfileNotFound = { _tag: 'ProfileNotFound' }
export interface TooManyProfiles { readonly _tag: 'TooManyProfiles'; readonly maximum: number }
/**
 * `min_buffer` would be larger than `max_buffer`. `member`: `min_buffer` if the request contains it, otherwise
 * `max_buffer`.
 */
export interface BuffersNotOrdered { readonly _tag: 'BuffersNotOrdered'; readonly member: 'min_buffer' | 'max_buffer' }
export interface ApiTokenNotFound { readonly _tag: 'ApiTokenNotFound' }
export const apiTokenNotFound: ApiTokenNotFound = { _tag: 'ApiTokenNotFound' }
export interface TooManyApiTokens { readonly _tag: 'TooManyApiTokens'; readonly maximum: number }
export interface JobNotFound { readonly _tag: 'JobNotFound' }
export interface JobRunning { readonly _tag: 'JobRunning'; readonly kind: string }
/** The job does not work on this subject, such as an unknown model. */
export interface JobSubjectInvalid { readonly _tag: 'JobSubjectInvalid'; readonly problem: string }
/** Open sessions use the model. `lives`: their number. */
export interface ModelInUse { readonly _tag: 'ModelInUse'; readonly lives: number }
/** The model is part of the service and cannot be removed. */
export interface ModelIsBundled { readonly _tag: 'ModelIsBundled' }
/** This process has no models. They are on the machines of the workers. */
export interface ModelsElsewhere { readonly _tag: 'ModelsElsewhere' }
export interface SenderAlreadyConnected { readonly _tag: 'SenderAlreadyConnected' }
export interface IdempotencyKeyReused { readonly _tag: 'IdempotencyKeyReused' }
/** The first request with this Idempotency-Key is still running. */
export interface RequestStillRunning { readonly _tag: 'RequestStillRunning' }

/**
 * Every refusal that a create can meet, in the order of the checks: of this process, of the request, of the user, and
 * of the workers. `LiveNotFound`: the create was repeated, and its session has been deleted.
 */
export type CreateLiveRefusal =
  | ShuttingDown
  | NoWorker
  | TooManyRequests
  | RequestStillRunning
  | IdempotencyKeyReused
  | LiveNotFound
  | SourcesNotIsolated
  | AudioUrlForbidden
  | ListenerTokenTaken
  | ModelNotFound
  | LanguageNotFound
  | LanguageNotSupported
  | TaskNotSupported
  | TranslationNotFound
  | TooManyTranslations
  | QuotaReached
  | InsufficientVram
  | InsufficientCompute
  | Unavailable

/** Every refusal of a request. */
export type Refusal =
  | CreateLiveRefusal
  | UsernameTaken
  | UserNotFound
  | LastAdministrator
  | LastAdministratorChanged
  | PairNotFound
  | WrongLogin
  | WrongPassword
  | DailyBudgetUsed
  | TooBusy
  | ProfileNotFound
  | TooManyProfiles
  | LastProfile
  | BuffersNotOrdered
  | ApiTokenNotFound
  | TooManyApiTokens
  | ExpiryNotInFuture
  | TranscriptNotFound
  | EntryNotFound
  | JobNotFound
  | JobRunning
  | JobSubjectInvalid
  | ModelInUse
  | ModelIsBundled
  | ModelsElsewhere
