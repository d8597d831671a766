import type { Environment } from '../../../application/ports/environment.ts'

export interface FailureLimit {
  readonly isReached: (address: string) => boolean
  readonly countFailure: (address: string) => void
}

const WINDOW_MS = 60_000
/** Addresses counted in one window. Further addresses are not counted, so memory stays bounded. */
const MAX_ADDRESSES = 10_000

/** Counts the failures of each address per minute. Successes do not count. `perMinute` 0 switches the limit off. */
export const createFailureLimit = ({ monotonic }: Pick<Environment, 'monotonic'>, perMinute: number): FailureLimit => {
  let since = monotonic()
  const failures = new Map<string, number>()

  const renew = (): void => {
    if (monotonic() - since < WINDOW_MS) return
    since = monotonic()
    failures.clear()
  }

  return {
    isReached: (address) => {
      renew()
      return perMinute > 0 && (failures.get(address) ?? 0) >= perMinute
    },
    countFailure: (address) => {
      renew()
      const counted = failures.get(address)
      if (counted !== undefined || failures.size < MAX_ADDRESSES) failures.set(address, (counted ?? 0) + 1)
    },
  }
}
