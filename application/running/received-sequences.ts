/** Records which segments of an HLS source the received audio contains. */
export interface ReceivedSequences {
  /** Records that the first `samples` samples contain this whole segment. */
  readonly record: (mediaSequence: number, samples: number) => void
  /** Returns whether neither this process nor an earlier one has received a whole segment. */
  readonly isEmpty: () => boolean
  /**
   * Returns the last segment that the first `samples` samples contain, or null when they contain no whole segment.
   * `samples` must not decrease from call to call.
   */
  readonly lastWithin: (samples: number) => number | null
}

/** `before`: the last segment that an earlier process received. */
export const createReceivedSequences = (before: number | null): ReceivedSequences => {
  let waiting: Array<{ readonly mediaSequence: number; readonly samples: number }> = []
  let last = before
  return {
    isEmpty: () => last === null && waiting.length === 0,
    record: (mediaSequence, samples) => void waiting.push({ mediaSequence, samples }),
    lastWithin: (samples) => {
      last = waiting.findLast((sequence) => sequence.samples <= samples)?.mediaSequence ?? last
      waiting = waiting.filter((sequence) => sequence.samples > samples)
      return last
    },
  }
}
