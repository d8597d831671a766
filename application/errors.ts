import type { EventTypeUnknown } from '../domain/read-event.ts'
import type { TooBusy } from './ports/credentials.ts'
import type { DocumentsUnavailable } from './ports/documents.ts'
import type { LogCorrupted, StoreUnavailable } from './ports/event-store.ts'
import type { KeyErased, KeyMissing, KeyringUnavailable } from './ports/keyring.ts'

/** What the answer needs is away, or cannot be read: 503, nothing is known to have happened. */
export type Unavailable =
  | StoreUnavailable
  | LogCorrupted
  | EventTypeUnknown
  | DocumentsUnavailable
  | KeyringUnavailable
  | KeyErased
  | KeyMissing
  | Contended

/** What was read cannot be used: not until an operator, or a newer version, sees to it. */
export const isHurt = ({ _tag }: { readonly _tag: string }): boolean =>
  _tag === 'LogCorrupted' || _tag === 'EventTypeUnknown'

/** Lost the race for the expected revision five times in a row. */
export interface Contended {
  readonly _tag: 'Contended'
  readonly stream: string
}

export interface ModelNotFound { readonly _tag: 'ModelNotFound' }
export interface LanguageNotFound { readonly _tag: 'LanguageNotFound' }
export interface LanguageNotSupported { readonly _tag: 'LanguageNotSupported'; readonly model: string; readonly language: string }
/** The model knows English alone: it has nothing to translate. */
export interface TaskNotSupported { readonly _tag: 'TaskNotSupported'; readonly model: string }
export interface TranslationNotFound { readonly _tag: 'TranslationNotFound'; readonly from: string; readonly to: string }
/** By its id. */
export interface PairNotFound { readonly _tag: 'PairNotFound' }
export interface QuotaReached { readonly _tag: 'QuotaReached'; readonly maximum: number }
export interface TooManyTranslations { readonly _tag: 'TooManyTranslations'; readonly maximum: number }
/** No process is there that runs sessions. */
export interface NoWorker { readonly _tag: 'NoWorker' }
export interface InsufficientVram { readonly _tag: 'InsufficientVram'; readonly needed: number; readonly free: number }
/** Lanes of the engine, each of which runs one pass at a time. */
export interface InsufficientCompute { readonly _tag: 'InsufficientCompute'; readonly neededLanes: number; readonly freeLanes: number }
/** A custom listener token that another user used first. */
export interface ListenerTokenTaken { readonly _tag: 'ListenerTokenTaken' }
/** The audio URL names an address that is not open to sources (S1). */
export interface AudioUrlForbidden { readonly _tag: 'AudioUrlForbidden' }
/** Decoders must be isolated and cannot be: no URL is pulled. */
export interface SourcesNotIsolated { readonly _tag: 'SourcesNotIsolated' }
export interface LiveNotFound { readonly _tag: 'LiveNotFound' }
/** The history of the live has no entry with this number. */
export interface EntryNotFound { readonly _tag: 'EntryNotFound' }
/** The live keeps no text: it was not asked to, or no longer does (D20). */
export interface TranscriptNotFound { readonly _tag: 'TranscriptNotFound' }
export interface UsernameTaken { readonly _tag: 'UsernameTaken' }
export interface UserNotFound { readonly _tag: 'UserNotFound' }
/** Nobody would be left who can administer. */
export interface LastAdministrator { readonly _tag: 'LastAdministrator' }
/** The same, of a change. */
export interface LastAdministratorChanged { readonly _tag: 'LastAdministratorChanged' }
/** Of a login: unknown names, disabled users and wrong passwords alike (R28). */
export interface WrongLogin { readonly _tag: 'WrongLogin' }
/** Of a user who is logged in and wants another password. */
export interface WrongPassword { readonly _tag: 'WrongPassword' }
/** To be tried again after so many seconds. */
export interface TooManyRequests { readonly _tag: 'TooManyRequests'; readonly seconds: number }
export interface ProfileNotFound { readonly _tag: 'ProfileNotFound' }
export interface TooManyProfiles { readonly _tag: 'TooManyProfiles'; readonly maximum: number }
/** Every user keeps at least one profile. */
export interface LastProfile { readonly _tag: 'LastProfile' }
/** With the change min_buffer would be larger than max_buffer; `member` is the one that was sent. */
export interface BuffersNotOrdered { readonly _tag: 'BuffersNotOrdered'; readonly member: 'min_buffer' | 'max_buffer' }
export interface ApiTokenNotFound { readonly _tag: 'ApiTokenNotFound' }
export interface TooManyApiTokens { readonly _tag: 'TooManyApiTokens'; readonly maximum: number }
/** A token would have expired before it was issued. */
export interface ExpiryNotInFuture { readonly _tag: 'ExpiryNotInFuture' }
/** By its id. */
export interface JobNotFound { readonly _tag: 'JobNotFound' }
/** Another job of the kind runs. */
export interface JobRunning { readonly _tag: 'JobRunning'; readonly kind: string }
/** What a job was asked to be about is nothing that it can be about. */
export interface JobSubjectInvalid { readonly _tag: 'JobSubjectInvalid'; readonly problem: string }
/** Open lives use the model. */
export interface ModelInUse { readonly _tag: 'ModelInUse'; readonly lives: number }
/** The model comes with the service. */
export interface ModelShips { readonly _tag: 'ModelShips' }
/** This process runs no models: they lie on the machines of workers. */
export interface ModelsElsewhere { readonly _tag: 'ModelsElsewhere' }
export interface SenderAlreadyConnected { readonly _tag: 'SenderAlreadyConnected' }
/** The live is terminal. */
export interface LiveOver { readonly _tag: 'LiveOver' }

/** The worker's term is over: another one has the live. */
export interface Superseded { readonly _tag: 'Superseded' }

/** The key came with another request first. */
export interface IdempotencyKeyReused { readonly _tag: 'IdempotencyKeyReused' }
/** The first request with the key is not answered yet. */
export interface RequestStillRunning { readonly _tag: 'RequestStillRunning' }

export type CreateLiveRefusal =
  | ModelNotFound
  | LanguageNotFound
  | LanguageNotSupported
  | TaskNotSupported
  | TranslationNotFound
  | TooManyTranslations
  | ListenerTokenTaken
  | AudioUrlForbidden
  | SourcesNotIsolated
  | QuotaReached
  | InsufficientVram
  | NoWorker
  | InsufficientCompute
  | LiveNotFound
  | Unavailable

/** Every refusal that a request can meet. */
export type Refusal =
  | CreateLiveRefusal
  | LiveNotFound
  | UsernameTaken
  | UserNotFound
  | LastAdministrator
  | LastAdministratorChanged
  | PairNotFound
  | WrongLogin
  | WrongPassword
  | TooManyRequests
  | TooBusy
  | ProfileNotFound
  | TooManyProfiles
  | LastProfile
  | BuffersNotOrdered
  | ApiTokenNotFound
  | TooManyApiTokens
  | ExpiryNotInFuture
  | IdempotencyKeyReused
  | RequestStillRunning
  | TranscriptNotFound
  | EntryNotFound
  | JobNotFound
  | JobRunning
  | JobSubjectInvalid
  | ModelInUse
  | ModelShips
  | ModelsElsewhere
