/** Facts about an installed model or translator that the catalogue does not have. */
export interface InstalledFacts {
  readonly name: string
  /** True when the model is part of the service. */
  readonly ships: boolean
  /** Size of the weights. */
  readonly bytes: number
  readonly precision: string | null
  /** The place from which the model was downloaded. */
  readonly source: string | null
  /** True: its memory was measured. False: it is estimated from its size. */
  readonly measured: boolean
}

/** A model whose folder was moved away, before it is removed. */
export interface HiddenModel {
  /** Moves the folder back. */
  readonly restore: () => Promise<void>
  /** Removes the folder permanently. */
  readonly destroy: () => Promise<void>
}

/** The models of this machine, in memory. */
export interface InstalledModels {
  readonly all: () => ReadonlyArray<InstalledFacts>
  /** Moves the folder of a downloaded model out of the folder of models. Rejects when the disk fails. */
  readonly hide: (name: string) => Promise<HiddenModel>
}
