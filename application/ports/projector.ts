import type { Position } from './event-store.ts'

/** How far one projection is; `error` is what it is retrying after, null while all is well. */
export interface ProjectionLag {
  readonly projection: string
  /** Everything up to here is in its documents. */
  readonly position: Position
  /** Seconds since it last knew of nothing left to do; 0 when that is now. */
  readonly secondsBehind: number
  readonly error: string | null
}

/** The read side's progress, as writers, health and metrics see it. */
export interface Projector {
  /** Resolves once every projection has passed `position`, or after 2 s (D52: best effort; the time-out is counted). */
  readonly whenProjected: (position: Position) => Promise<void>
  /** Resolves once every projection has been through all that was in the log, or has been stopped. */
  readonly caughtUp: () => Promise<void>
  readonly lag: () => ReadonlyArray<ProjectionLag>
  /** Waits of `whenProjected` that ran out of time so far. */
  readonly timeouts: () => number
  /** Resolves when the last projection has stopped after the signal. */
  readonly stopped: Promise<void>
}
