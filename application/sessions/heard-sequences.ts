/** Which segments of an HLS source are in the audio that was heard. */
export interface HeardSequences {
  /** All of this media sequence is in the first so many samples. */
  readonly heard: (mediaSequence: number, samples: number) => void
  /** The last one that is wholly in the first so many samples, null for none; asked for in the order of time. */
  readonly until: (samples: number) => number | null
}

/** `before`: the last one that an earlier process heard. */
export const createHeardSequences = (before: number | null): HeardSequences => {
  let waiting: Array<{ readonly mediaSequence: number; readonly samples: number }> = []
  let last = before
  return {
    heard: (mediaSequence, samples) => void waiting.push({ mediaSequence, samples }),
    until: (samples) => {
      last = waiting.findLast((one) => one.samples <= samples)?.mediaSequence ?? last
      waiting = waiting.filter((one) => one.samples > samples)
      return last
    },
  }
}
