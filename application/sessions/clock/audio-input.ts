/** The audio input of a session. */
export interface AudioInput {
  /** `lost`: samples of the source that are missing before `samples`. */
  readonly push: (samples: Int16Array, lost?: number) => void
  readonly backlogSeconds: () => number
  readonly onDrained: (callback: () => void) => void
  /** Samples received so far, including lost samples. */
  readonly receivedSamples: () => number
  /** Call this when the next audio begins `samples` samples later. */
  readonly skip: (samples: number) => void
  /**
   * Number of samples of the session before which all speech is in sent finals (`sent`) or stored finals (`stored`).
   */
  readonly settledSamples: () => { readonly sent: number; readonly stored: number }
}
