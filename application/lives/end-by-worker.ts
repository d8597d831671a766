import type { EndCause } from '../pipeline/signals.ts'
import type { Origin } from '../log/origin.ts'
import type { Position } from '../ports/event-store.ts'

/** The end of a session by its owner, an administrator or a time limit. */
export interface EndRequest {
  readonly cause: EndCause
  readonly origin: Origin
  /** Maximum milliseconds for transcribing the audio that was already received. */
  readonly limitMs: number
}

/** A stored end. */
export interface Ended {
  /** Position of the event that ended the session. Null when another end was stored first. */
  readonly position: Position | null
}

/**
 * Sends an end request to the worker of a session. The worker finishes transcribing, then appends the end and retries
 * until it is stored. Resolves to null when the worker loses the session. Returns null when no worker runs the session.
 */
export type EndByWorker = (liveId: number, end: EndRequest) => Promise<Ended | null> | null

/** Longest time to transcribe received audio when an owner, an administrator or a time limit ends the session. */
export const FLUSH_LIMIT_MS = 2000
