import type { Environment } from '../../../application/ports/environment.ts'

export interface FailureLimit {
  readonly isReached: (client: string) => boolean
  readonly countFailure: (client: string) => void
}

const WINDOW_MS = 60_000
/** Clients counted in one window. Further clients are not counted, so memory stays bounded. */
const MAX_CLIENTS = 10_000

/**
 * Counts the failures of each client, an address or a user, per minute. Successes do not count. `perMinute` 0 switches
 * the limit off.
 */
export const createFailureLimit = ({ monotonic }: Pick<Environment, 'monotonic'>, perMinute: number): FailureLimit => {
  let since = monotonic()
  const failures = new Map<string, number>()

  const renew = (): void => {
    if (monotonic() - since < WINDOW_MS) return
    since = monotonic()
    failures.clear()
  }

  return {
    isReached: (client) => {
      renew()
      return perMinute > 0 && (failures.get(client) ?? 0) >= perMinute
    },
    countFailure: (client) => {
      renew()
      const counted = failures.get(client)
      if (counted !== undefined || failures.size < MAX_CLIENTS) failures.set(client, (counted ?? 0) + 1)
    },
  }
}
