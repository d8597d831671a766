import type { SegmentWord } from './events.ts'

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
