import type { Either } from 'fp-ts/lib/Either.js'
import type { Position } from './event-store.ts'

/** How far one projection is; `error` is what it is retrying after, null while all is well. */
export interface ProjectionLag {
  readonly projection: string
  /** Everything up to here is in its documents. */
  readonly position: Position
  /** Seconds since it last knew of nothing left to do; 0 when that is now. */
  readonly secondsBehind: number
  readonly error: string | null
  /** Failed attempts since the start of the process. */
  readonly failures: number
  /** Its read model is being built anew beside the one that serves. */
  readonly rebuilding: boolean
  /** It has been through all that was in the log at start. */
  readonly hasCaughtUp: boolean
  /** This process runs it; else what is said of it is what the one that does has told. */
  readonly isOwn: boolean
}

/** How far a rebuild is. */
export interface RebuildProgress {
  readonly projection: string
  readonly events: number
  /** Of the log, 0 to 1; null where positions do not tell. */
  readonly share: number | null
  /** Which store it is waiting for, and why; null while it is at work. */
  readonly held: string | null
}

export interface Rebuilt {
  readonly projection: string
  /** Folded by this process. */
  readonly events: number
  /** It went on from where an interrupted one had come. */
  readonly resumed: boolean
  /** Documents that were not what the log says, and now are; null when the old ones could not be compared. */
  readonly corrected: number | null
  /** Everything up to here is in the new documents. */
  readonly position: Position
  readonly seconds: number
}

/** The read side's progress, as writers, health and metrics see it. */
export interface Projector {
  /** Resolves once every projection has passed `position`, or after 2 s (D52: best effort; the time-out is counted). */
  readonly whenProjected: (position: Position) => Promise<void>
  /** Resolves once every projection has been through all that was in the log, or has been stopped. */
  readonly caughtUp: () => Promise<void>
  readonly lag: () => ReadonlyArray<ProjectionLag>
  /**
   * Builds one read model anew beside the one that serves, then puts it in its place; the process that runs the
   * projection does it, whichever is asked. Who asks while that is under way hears of the same one. It goes on from where an interrupted one has come. Left: why it was given up; the old one
   * serves on.
   */
  readonly rebuild: (projection: string, onProgress: (progress: RebuildProgress) => void) => Promise<Either<string, Rebuilt>>
  /** Goes on with rebuilds that an earlier process has left unfinished, now and with each projection that this one comes to run. */
  readonly finishRebuilds: () => Promise<void>
  /** Waits of `whenProjected` that ran out of time so far. */
  readonly timeouts: () => number
  /** Resolves when the last projection has stopped after the signal. */
  readonly stopped: Promise<void>
}
