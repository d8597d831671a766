export interface Model {
  readonly id: number
  readonly name: string
  readonly active: boolean
  /** Megabytes. */
  readonly vram: number
  readonly createdAt: string
  readonly updatedAt: string | null
  /** ISO 639-1 codes that the model can transcribe. */
  readonly languages: ReadonlyArray<string>
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
  readonly translations: () => ReadonlyArray<TranslationPair>
}
