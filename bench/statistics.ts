const RESAMPLES = 10_000

/** Returns the middle value, or the mean of the two middle values. NaN without values. */
export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const [low, high] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[Math.floor(sorted.length / 2)]]
  return low === undefined || high === undefined ? Number.NaN : (low + high) / 2
}

/** Creates a generator (mulberry32) of numbers from 0 to below 1. Every generator gives the same numbers. */
const createRandom = (): (() => number) => {
  let state = 1
  return () => {
    state = (state + 0x6d2b79f5) | 0
    const mixed = Math.imul(state ^ (state >>> 15), state | 1)
    const mixedAgain = mixed ^ (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61))
    return ((mixedAgain ^ (mixedAgain >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * Returns the one-sided lower 95 % bound of the median: the 5th percentile of the medians of bootstrap samples, which
 * are drawn from the values with replacement. Equal values give equal results. NaN without values.
 */
export const medianLowerBound = (values: ReadonlyArray<number>): number => {
  const random = createRandom()
  const drawn = (): number => values[Math.floor(random() * values.length)] ?? Number.NaN
  const medians = Float64Array.from({ length: RESAMPLES }, () => median(values.map(drawn))).sort()
  return medians[RESAMPLES * 0.05] ?? Number.NaN
}
