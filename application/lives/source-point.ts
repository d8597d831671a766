/** The point in a session where a source process begins. */
export interface SourcePoint {
  /** Samples of the session's clock (16 kHz). */
  readonly sampleOffset: number
  readonly nextSegment: number
  /**
   * The last HLS segment that was transcribed, or the segment before the first one (−1 at the start of a playlist).
   * Null when no segment was read.
   */
  readonly mediaSequence: number | null
}

/** The start of a session that no process has pulled before. */
export const SOURCE_START: SourcePoint = { sampleOffset: 0, nextSegment: 1, mediaSequence: null }
