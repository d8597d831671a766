/** Shows what a restore does at present. */
export interface Progress {
  /** `detail` describes the progress within the step. */
  readonly show: (step: string, detail?: string) => void
}
