import { setTimeout } from 'node:timers/promises'

const POLL_MS = 5

/**
 * Measures the milliseconds from the answer of `write` until `isSeen` returns true, usually in another process. Throws
 * after `limitMs`.
 */
export const visibilityDelay = async (
  write: () => Promise<unknown>, isSeen: () => Promise<boolean>, limitMs = 60_000,
): Promise<number> => {
  await write()
  const since = performance.now()
  while (!(await isSeen())) {
    if (performance.now() - since > limitMs) throw new Error(`the write was not visible within ${limitMs} ms`)
    await setTimeout(POLL_MS)
  }
  return performance.now() - since
}

/** Returns a percentile. `fraction` is from 0 to 1: 0.95 returns the value that 95 % of the values do not exceed. */
export const percentile = (values: ReadonlyArray<number>, fraction: number): number =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * fraction) - 1)] ?? NaN
