import type { Either } from 'fp-ts/lib/Either.js'
import type { Position } from './event-store.ts'

/** The lists in which the caller of a write can read it next, by the subject of the write. */
export const SESSION_LISTS = ['lives', 'live-tokens', 'live-counts', 'live-totals-2'] as const
export const USER_LISTS = ['users', 'user-totals-2'] as const
export const PROFILE_LISTS = ['profiles'] as const
export const TOKEN_LISTS = ['api-tokens', 'api-token-totals-2'] as const

/** The lists, by the names of their projections. */
export type ListName =
  | (typeof SESSION_LISTS)[number] | (typeof USER_LISTS)[number]
  | (typeof PROFILE_LISTS)[number] | (typeof TOKEN_LISTS)[number]

/** The event that a projection cannot apply, and the document that it would change (null: unknown). */
export interface StuckAt {
  readonly stream: string
  readonly revision: number
  readonly document: string | null
}

export interface ProjectionLag {
  readonly projection: string
  /** All events up to this position are in the documents. */
  readonly position: Position
  /** Seconds since the projection last had projected all known events. 0 while it is up to date. */
  readonly secondsBehind: number
  /** The error that is being retried. Null without an error. */
  readonly error: string | null
  /** Where the projection fails, although its store takes other writes. It retries alone. Null otherwise. */
  readonly stuckAt: StuckAt | null
  /** Part of the log, 0 to 1, in the documents, while many events are still to be read. Null otherwise. */
  readonly share: number | null
  /** Failed attempts since the start of the process. */
  readonly failures: number
  /** True while a new copy of its read model is being built. The old copy stays in use. */
  readonly rebuilding: boolean
  /** True when the projection has processed the log as it was at the start. */
  readonly hasCaughtUp: boolean
  /** True: this process runs the projection. False: the values are published by the process that runs it. */
  readonly isOwn: boolean
}

export interface RebuildProgress {
  readonly projection: string
  readonly events: number
  /** Completed part of the log, 0 to 1. Null when it is unknown. */
  readonly share: number | null
  /** The reason of a wait for a store. Null while the rebuild makes progress. */
  readonly held: string | null
}

export interface Rebuilt {
  readonly projection: string
  /** Number of events that this process folded. */
  readonly events: number
  /** True when the rebuild continued an interrupted rebuild. */
  readonly resumed: boolean
  /** Number of old documents that differed from the new ones. Null when the documents could not be compared. */
  readonly corrected: number | null
  /** All events up to this position are in the new documents. */
  readonly position: Position
  readonly seconds: number
}

/** Keeps the read models up to date, and reports progress to writers, health checks and metrics. */
export interface Projector {
  /**
   * Resolves when `lists` have passed `position`, or after a timeout, which is counted. Does not wait for a list that
   * is stuck, or that is still reading an old log: nobody could read the write there.
   */
  readonly whenProjected: (lists: ReadonlyArray<ListName>, position: Position) => Promise<void>
  /** Resolves when every projection has processed the log as it was at the start, or the projector has stopped. */
  readonly caughtUp: () => Promise<void>
  readonly lag: () => ReadonlyArray<ProjectionLag>
  /**
   * Builds a new copy of a read model and then replaces the old copy. The process that runs the projection does the
   * work. A second call during a rebuild gets the progress and the result of the first rebuild. An interrupted rebuild
   * is continued. Left: the reason of a failure. Then the old copy stays in use.
   */
  readonly rebuild: (
    projection: string,
    onProgress: (progress: RebuildProgress) => void,
  ) => Promise<Either<string, Rebuilt>>
  /** Continues unfinished rebuilds, and does so for each projection that this process takes over later. */
  readonly finishRebuilds: () => Promise<void>
  readonly timeouts: () => number
  /** Resolves after the signal has aborted and all projections have stopped. */
  readonly stopped: Promise<void>
}
