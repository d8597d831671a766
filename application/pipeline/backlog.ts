/** The received audio of a session that no pass (one run of the model) has processed yet. */
export interface Backlog {
  /** Records that the audio up to sample `end` has arrived. */
  readonly arrived: (end: number) => void
  /** Returns the arrival time of the oldest audio in the backlog, or the present time when the backlog is empty. */
  readonly since: () => number
  /** Removes the audio before `end`. Returns whether this removed any audio. */
  readonly consume: (end: number) => boolean
  /** Returns the sample up to which the audio was removed. */
  readonly consumed: () => number
  readonly clear: () => void
}

/** @param monotonic returns monotonic milliseconds */
export const createBacklog = (monotonic: () => number): Backlog => {
  const arrivals: Array<{ readonly end: number; readonly at: number }> = []
  let consumed = 0
  return {
    arrived: (end) => void arrivals.push({ end, at: monotonic() }),
    since: () => arrivals[0]?.at ?? monotonic(),
    consume: (end) => {
      const isMore = end > consumed
      consumed = Math.max(consumed, end)
      while ((arrivals[0]?.end ?? Infinity) <= consumed) arrivals.shift()
      return isMore
    },
    consumed: () => consumed,
    clear: () => void (arrivals.length = 0),
  }
}
