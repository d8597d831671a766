/** Where a source process begins in a live. */
export interface SourcePoint {
  /** Samples of the live's clock (16 kHz). */
  readonly sampleOffset: number
  readonly nextSegment: number
  /** The last HLS segment that was heard, or the one before the first; −1 before all, null where nothing was. */
  readonly mediaSequence: number | null
}

/** Of a live that no process has pulled before. */
export const BEGINNING: SourcePoint = { sampleOffset: 0, nextSegment: 1, mediaSequence: null }
