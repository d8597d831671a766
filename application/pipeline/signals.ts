import type { FailureCode, FinishReason } from '../../domain/live/events.ts'
import type { SegmentWord } from '../../domain/transcript/events.ts'

/** One line of live text. Each replaces the earlier ones of the same segment, kind and language (D45). */
export interface TranscriptFrame {
  readonly kind: 'transcription' | 'translation'
  /** Counts from 1. */
  readonly segment: number
  readonly final: boolean
  /** Seconds from the first audio. */
  readonly start: number
  readonly end: number
  /** Wrapped to max_chars and max_lines. */
  readonly text: string
  readonly language: string
  /** Of a final of a session that asked for them, where the model tells when its words sound. */
  readonly words?: ReadonlyArray<SegmentWord>
}

/** Why a live ended: A4's table of ends has one row for each. */
export type EndCause =
  | { readonly status: 'finished'; readonly reason: FinishReason }
  | { readonly status: 'error'; readonly code: FailureCode; readonly detail: string }

/** What happens on a live that its sockets must hear of. */
export type LiveSignal =
  | { readonly kind: 'started' }
  | TranscriptFrame
  | { readonly kind: 'ended'; readonly cause: EndCause }
  /** Another worker has the live: its sockets are to come anew. */
  | { readonly kind: 'moved' }

/** In-process publish/subscribe, one topic a live; subscribers run in order, at once, and must not throw. */
export interface LiveBus {
  readonly publish: (liveId: number, signal: LiveSignal) => void
  /** Returns the way out. */
  readonly subscribe: (liveId: number, subscriber: (signal: LiveSignal) => void) => () => void
}
