/** The point in a session where a source process begins. */
export interface SourcePoint {
  /** Samples of the session's clock (16 kHz). */
  readonly sampleOffset: number
  /** Number of the next final segment of text. */
  readonly nextSegment: number
  /**
   * Media sequence number of the last HLS part that was transcribed. Before the first transcribed part: the number
   * before that part, which is −1 at the start of a playlist. Null when no part was read.
   */
  readonly mediaSequence: number | null
}

/** The start of a session that no process has pulled before. */
export const SOURCE_START: SourcePoint = { sampleOffset: 0, nextSegment: 1, mediaSequence: null }
