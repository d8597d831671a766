import * as E from 'fp-ts/lib/Either.js'
import type { Lease, LeaseRegister } from '../../../../infrastructure/mongodb/lease-register.ts'

/** A register of leases in memory that is always available. */
export const createMemoryLeaseRegister = (): LeaseRegister => {
  const leases = new Map<string, Lease>()
  return {
    read: async () => E.right([...leases.values()]),
    take: async (name, seen, { name: holder, incarnation }) => {
      const token = (seen?.token ?? 0) + 1
      if (leases.get(name)?.token !== seen?.token) return E.right(null)
      leases.set(name, { name, holder, incarnation, token })
      return E.right(token)
    },
    release: async (name, { incarnation }, token) => {
      const lease = leases.get(name)
      if (lease?.incarnation === incarnation && lease.token === token)
        leases.set(name, { ...lease, holder: null, incarnation: null })
      return E.right(undefined)
    },
  }
}
