/** Where the audio of a live goes in. */
export interface AudioIntake {
  /** `lost`: samples of its source that are missing before these. */
  readonly push: (samples: Int16Array, lost?: number) => void
  readonly backlogSeconds: () => number
  readonly onDrained: (callback: () => void) => void
  /** Samples so far, lost ones too. */
  readonly heardSamples: () => number
  /** The next audio is so many samples further on. */
  readonly skip: (samples: number) => void
  /** Samples of the live up to which all that was said is in finals that were told, and in finals that are stored. */
  readonly settled: () => { readonly told: number; readonly stored: number }
}
