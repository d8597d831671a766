/** What is known of an installed model or translator beside what the catalogue says. */
export interface InstalledFacts {
  readonly name: string
  /** It comes with the service. */
  readonly ships: boolean
  /** Of its weights, which are loaded. */
  readonly bytes: number
  readonly precision: string | null
  /** Where it was pulled from. */
  readonly source: string | null
  /** Whether its memory was measured, or is estimated from its size. */
  readonly measured: boolean
}

/** A model whose folder is out of sight. */
export interface HiddenModel {
  /** Puts it back. */
  readonly restore: () => Promise<void>
  /** Removes it for good. */
  readonly destroy: () => Promise<void>
}

/** The models of this machine, in memory. */
export interface InstalledModels {
  readonly all: () => ReadonlyArray<InstalledFacts>
  /** Puts the folder of a model that does not ship where nobody looks for models. Rejects where the disk does. */
  readonly hide: (name: string) => Promise<HiddenModel>
}
