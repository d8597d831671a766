import type { DocumentsUnavailable } from './ports/documents.ts'
import type { LogCorrupted, StoreUnavailable } from './ports/event-store.ts'
import type { KeyErased, KeyringUnavailable } from './ports/keyring.ts'

/** A store that the answer needs is away: 503, nothing is known to have happened. */
export type Unavailable = StoreUnavailable | LogCorrupted | DocumentsUnavailable | KeyringUnavailable | KeyErased | Contended

/** Lost the race for the expected revision five times in a row. */
export interface Contended {
  readonly _tag: 'Contended'
  readonly stream: string
}

export interface ModelNotFound { readonly _tag: 'ModelNotFound' }
export interface LanguageNotFound { readonly _tag: 'LanguageNotFound' }
export interface LanguageNotSupported { readonly _tag: 'LanguageNotSupported'; readonly model: string; readonly language: string }
export interface TranslationNotFound { readonly _tag: 'TranslationNotFound'; readonly from: string; readonly to: string }
export interface QuotaReached { readonly _tag: 'QuotaReached'; readonly maximum: number }
export interface TooManyTranslations { readonly _tag: 'TooManyTranslations'; readonly maximum: number }
export interface InsufficientVram { readonly _tag: 'InsufficientVram'; readonly needed: number; readonly free: number }
/** A custom listener token that another user used first (D15). */
export interface ListenerTokenTaken { readonly _tag: 'ListenerTokenTaken' }
/** The audio URL names an address that is not open to sources (S1). */
export interface AudioUrlForbidden { readonly _tag: 'AudioUrlForbidden' }
export interface LiveNotFound { readonly _tag: 'LiveNotFound' }
export interface UsernameTaken { readonly _tag: 'UsernameTaken' }
export interface SenderAlreadyConnected { readonly _tag: 'SenderAlreadyConnected' }
/** The live is terminal. */
export interface LiveOver { readonly _tag: 'LiveOver' }

export type CreateLiveRefusal =
  | ModelNotFound
  | LanguageNotFound
  | LanguageNotSupported
  | TranslationNotFound
  | TooManyTranslations
  | ListenerTokenTaken
  | AudioUrlForbidden
  | QuotaReached
  | InsufficientVram
  | Unavailable

/** Every refusal that a request can meet. */
export type Refusal = CreateLiveRefusal | LiveNotFound | UsernameTaken
