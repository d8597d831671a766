import { setTimeout } from 'node:timers/promises'

/** Milliseconds between two looks of who waits for what another process did. */
const LOOK_MS = 5

/**
 * How long after `write` was answered `isSeen` holds, looked at again and again: what one process did, asked of another.
 * Throws after `limitMs`.
 */
export const visibilityDelay = async (
  write: () => Promise<unknown>, isSeen: () => Promise<boolean>, limitMs = 60_000,
): Promise<number> => {
  await write()
  const since = performance.now()
  while (!(await isSeen())) {
    if (performance.now() - since > limitMs) throw new Error(`it was not seen within ${limitMs} ms`)
    await setTimeout(LOOK_MS)
  }
  return performance.now() - since
}

/** The value that `share` of all are not above. */
export const percentile = (values: ReadonlyArray<number>, share: number): number =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? NaN
