/** The audio of a live that nobody has heard yet. */
export interface Backlog {
  /** All audio up to `end`, in samples from the first, is there. */
  readonly arrived: (end: number) => void
  /** When the oldest of it arrived; now where there is none. */
  readonly since: () => number
  /** Audio before `end` is done with; whether more is than before. */
  readonly consume: (end: number) => boolean
  readonly consumed: () => number
  readonly clear: () => void
}

/** @param monotonic milliseconds that only ever grow */
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
