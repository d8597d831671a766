import type { Environment } from '../../../application/ports/environment.ts'

export interface FailureLimit {
  readonly isReached: (address: string) => boolean
  readonly failed: (address: string) => void
}

const WINDOW_MS = 60_000
/** Of which one window knows; further ones are not counted in it. */
const MAX_ADDRESSES = 10_000

/** S25, S37: failures of one address within a minute; `perMinute` 0 switches it off. What is right never counts. */
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
    failed: (address) => {
      renew()
      const known = failures.get(address)
      if (known !== undefined || failures.size < MAX_ADDRESSES) failures.set(address, (known ?? 0) + 1)
    },
  }
}
