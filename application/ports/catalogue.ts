import type { ModelListed, TranslationPairListed } from '../../domain/catalogue/events.ts'
import type { EventOf } from '../../domain/shared/event.ts'

/** What a session may ask of a model. */
export interface Abilities {
  /** Codes that the model can transcribe. */
  readonly languages: ReadonlyArray<string>
  /** It finds out which of them is spoken. */
  readonly findsLanguage: boolean
  /** It writes English of any of them. */
  readonly translates: boolean
}

/** Of a model that is not there. */
export const NO_ABILITIES: Abilities = { languages: [], findsLanguage: false, translates: false }

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
  readonly vram: number
  readonly from: string
  readonly to: string
  readonly createdAt: string
  readonly updatedAt: string | null
}

/** Reference data, in memory: what is installed on this machine. Each list is ordered by id. */
export interface Catalogue {
  readonly models: () => ReadonlyArray<Model>
  readonly languages: () => ReadonlyArray<Language>
  /** Languages that a live may have and that are not listed: no code of two letters names them. */
  readonly furtherLanguages: () => ReadonlyArray<Language>
  readonly translations: () => ReadonlyArray<TranslationPair>
}

/** All that was ever listed, with its ids. */
export interface Listings {
  readonly models: ReadonlyArray<EventOf<typeof ModelListed>['data']>
  readonly pairs: ReadonlyArray<EventOf<typeof TranslationPairListed>['data']>
}

/** A pair of languages and the model that translates it. */
export type InstalledPair = Pick<Listings['pairs'][number], 'model' | 'from' | 'to'>

/** Gives ids to the names of models and to the pairs that have none yet; rejects when the store cannot be reached. */
export type ListInstalled = (names: ReadonlyArray<string>, pairs: ReadonlyArray<InstalledPair>) => Promise<Listings>
