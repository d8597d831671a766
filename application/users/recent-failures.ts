import type { Environment } from '../ports/environment.ts'

/** Default limit: after this many failures within WINDOW_MS, an address must wait. */
const MAX_FAILURES = 20
const WINDOW_MS = 60_000
/** Beyond this number, keys without a recent failure are dropped. */
const MAX_KEYS = 10_000

export interface RecentFailures {
  /** Returns the milliseconds until the next attempt is allowed. 0: it is allowed. */
  readonly waitMs: (key: string) => number
  readonly recordFailure: (key: string) => void
}

/** Counts failed logins of a key (for example an address) within a time window. A restart resets the counts. */
export const createRecentFailures = (
  { monotonic }: Pick<Environment, 'monotonic'>,
  { most, windowMs } = { most: MAX_FAILURES, windowMs: WINDOW_MS },
): RecentFailures => {
  const failures = new Map<string, ReadonlyArray<number>>()

  const recent = (key: string): ReadonlyArray<number> =>
    (failures.get(key) ?? []).filter((at) => monotonic() - at < windowMs)

  const prune = (): void => {
    for (const key of failures.keys()) if (recent(key).length === 0) failures.delete(key)
  }

  return {
    waitMs: (key) => {
      const [oldest] = recent(key).slice(-most)
      return oldest === undefined || recent(key).length < most ? 0 : oldest + windowMs - monotonic()
    },
    recordFailure: (key) => {
      failures.set(key, [...recent(key), monotonic()])
      if (failures.size > MAX_KEYS) prune()
    },
  }
}
