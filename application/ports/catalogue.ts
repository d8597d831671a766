import type { ModelListed, TranslationPairListed } from '../../domain/catalogue/events.ts'
import type { EventOf } from '../../domain/shared/event.ts'

/** The abilities of a speech model. */
export interface Abilities {
  /** Codes of the languages that the model transcribes. */
  readonly languages: ReadonlyArray<string>
  /** True when the model can detect the spoken language. */
  readonly findsLanguage: boolean
  /** True when the model can translate speech into English. */
  readonly translates: boolean
  /** True when finals can contain the times of their words. */
  readonly hasWords: boolean
  /** True when a prompt and hotwords change the text. Otherwise they are accepted and ignored. */
  readonly takesVocabulary: boolean
}

/** The abilities of a model that is not installed. */
export const NO_ABILITIES: Abilities =
  { languages: [], findsLanguage: false, translates: false, hasWords: false, takesVocabulary: false }

export interface Model extends Abilities {
  readonly id: number
  readonly name: string
  readonly active: boolean
  /** Megabytes. */
  readonly vram: number
  readonly createdAt: string
  readonly updatedAt: string | null
}

export interface Language {
  readonly id: number
  readonly iso: string
  readonly name: string
  readonly active: boolean
  readonly createdAt: string
  readonly updatedAt: string | null
}

export interface TranslationPair {
  readonly id: number
  readonly model: string
  readonly active: boolean
  /** Megabytes. */
  readonly vram: number
  readonly from: string
  readonly to: string
  readonly createdAt: string
  readonly updatedAt: string | null
}

/** The installed models, their languages and translation pairs, in memory. Each list is sorted by id. */
export interface Catalogue {
  readonly models: () => ReadonlyArray<Model>
  readonly languages: () => ReadonlyArray<Language>
  /**
   * Further languages of the models. `languages` omits them, because they have no two-letter code. Sessions may use
   * them.
   */
  readonly furtherLanguages: () => ReadonlyArray<Language>
  readonly translations: () => ReadonlyArray<TranslationPair>
}

/** All models and pairs that ever got an id. */
export interface Listings {
  readonly models: ReadonlyArray<EventOf<typeof ModelListed>['data']>
  readonly pairs: ReadonlyArray<EventOf<typeof TranslationPairListed>['data']>
}

/** A pair of languages and its translator. */
export type InstalledPair = Pick<Listings['pairs'][number], 'model' | 'from' | 'to'>

/** Gives ids to new names of models and to new pairs. Returns all ids. Rejects when the event store is unavailable. */
export type ListInstalled = (names: ReadonlyArray<string>, pairs: ReadonlyArray<InstalledPair>) => Promise<Listings>
