import type { EndCause } from '../../domain/live/events.ts'
import type { TranscriptFrame } from '../../domain/transcript/frame.ts'

/** The events of a session that its sockets need. */
export type LiveSignal =
  | { readonly kind: 'started' }
  | TranscriptFrame
  | { readonly kind: 'ended'; readonly cause: EndCause }
  /** Another worker runs the session, so its sockets must reconnect. */
  | { readonly kind: 'moved' }

/**
 * Publishes signals within this process, with one topic for each session. `publish` calls the subscribers in their
 * order before it returns. They must not throw.
 */
export interface LiveBus {
  readonly publish: (liveId: number, signal: LiveSignal) => void
  /** Returns the function that unsubscribes. */
  readonly subscribe: (liveId: number, subscriber: (signal: LiveSignal) => void) => () => void
}
