import type { Environment } from '../ports/environment.ts'

/** Of an address, unless told otherwise. */
const MAX_FAILURES = 20
const WINDOW_MS = 60_000
/** That are kept; beyond it those without a recent failure go. */
const MAX_KNOWN = 10_000

export interface RecentFailures {
  /** Milliseconds until `who` may try again; 0 for now. */
  readonly wait: (who: string) => number
  readonly failed: (who: string) => void
}

/** Wrong logins within some minutes, by address or whatever else. In memory: a restart forgets them. */
export const createRecentFailures = (
  { monotonic }: Pick<Environment, 'monotonic'>,
  { most, windowMs } = { most: MAX_FAILURES, windowMs: WINDOW_MS },
): RecentFailures => {
  const failures = new Map<string, ReadonlyArray<number>>()

  const recent = (who: string): ReadonlyArray<number> =>
    (failures.get(who) ?? []).filter((at) => monotonic() - at < windowMs)

  const prune = (): void => {
    for (const who of failures.keys()) if (recent(who).length === 0) failures.delete(who)
  }

  return {
    wait: (who) => {
      const [oldest] = recent(who).slice(-most)
      return oldest === undefined || recent(who).length < most ? 0 : oldest + windowMs - monotonic()
    },
    failed: (who) => {
      failures.set(who, [...recent(who), monotonic()])
      if (failures.size > MAX_KNOWN) prune()
    },
  }
}
