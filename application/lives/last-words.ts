import type { EndCause } from '../pipeline/signals.ts'
import type { Origin } from '../log/origin.ts'
import type { Position } from '../ports/event-store.ts'

/** How a live ends that neither its sender nor its source ends. */
export interface EndRequest {
  readonly cause: EndCause
  readonly origin: Origin
  /** Milliseconds for its last words. */
  readonly limitMs: number
}

/**
 * An end that stands: the position of the terminal event where it was this end that made it, null where another did.
 */
export interface Ended {
  readonly position: Position | null
}

/**
 * Has the worker of a live end it: it lets the live speak out and appends the end, trying until the store has it. Answers
 * then, or null once the live is no longer its own. Null at once where the live runs nowhere.
 */
export type EndByWorker = (liveId: number, end: EndRequest) => Promise<Ended | null> | null

/** For the last words of a live that its owner, an administrator or a time limit ends. */
export const LAST_WORDS_MS = 2000
