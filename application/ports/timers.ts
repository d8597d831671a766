/** Waiting, injected so that tests do not wait. */
export interface Timers {
  /** Runs `task` once, `ms` milliseconds from now; the function returned cancels it. */
  readonly after: (ms: number, task: () => void) => () => void
}
