/** Timers. They are injected, so tests need not wait. */
export interface Timers {
  /** Runs `task` once after `ms` milliseconds. Returns a function that cancels it. */
  readonly after: (ms: number, task: () => void) => () => void
}
