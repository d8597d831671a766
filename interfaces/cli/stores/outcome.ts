/** A problem that `stenolog check` reports. */
export interface Problem {
  readonly where: string
  readonly problem: string
}

/** The result of one check. */
export interface Outcome {
  /** Describes the checked data, such as `120 events`. */
  readonly seen: string
  readonly problems: ReadonlyArray<Problem>
}
