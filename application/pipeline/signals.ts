import type { FailureCode, FinishReason } from '../../domain/live/events.ts'
import type { SegmentWord } from '../../domain/transcript/events.ts'

/** A draft or a final segment, as it is sent. It replaces earlier frames with the same segment, kind and language. */
export interface TranscriptFrame {
  readonly kind: 'transcription' | 'translation'
  /** Counts from 1. */
  readonly segment: number
  readonly final: boolean
  /** Seconds from the first audio. */
  readonly start: number
  readonly end: number
  /** The text, wrapped to max_chars and max_lines. */
  readonly text: string
  readonly language: string
  /** Present only in finals, if the session requested words and the model returns word times. */
  readonly words?: ReadonlyArray<SegmentWord>
}

/** Why a session ended. Each cause has its own close code in the interface. */
export type EndCause =
  | { readonly status: 'finished'; readonly reason: FinishReason }
  | { readonly status: 'error'; readonly code: FailureCode; readonly detail: string }

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
