import type { Environment } from '../ports/environment.ts'

/** S24. */
const MAX_FAILURES = 20
const WINDOW_MS = 60_000
/** Addresses that are kept; beyond it those without a recent failure go. */
const MAX_ADDRESSES = 10_000

export interface AddressFailures {
  /** Milliseconds until the address may try again; 0 for now. */
  readonly wait: (address: string) => number
  readonly failed: (address: string) => void
}

/** Wrong logins of each address within a minute. In memory: a restart forgets a minute. */
export const createAddressFailures = ({ monotonic }: Pick<Environment, 'monotonic'>): AddressFailures => {
  const failures = new Map<string, ReadonlyArray<number>>()

  const recent = (address: string): ReadonlyArray<number> =>
    (failures.get(address) ?? []).filter((at) => monotonic() - at < WINDOW_MS)

  const prune = (): void => {
    for (const address of failures.keys()) if (recent(address).length === 0) failures.delete(address)
  }

  return {
    wait: (address) => {
      const [oldest] = recent(address).slice(-MAX_FAILURES)
      return oldest === undefined || recent(address).length < MAX_FAILURES ? 0 : oldest + WINDOW_MS - monotonic()
    },
    failed: (address) => {
      failures.set(address, [...recent(address), monotonic()])
      if (failures.size > MAX_ADDRESSES) prune()
    },
  }
}
