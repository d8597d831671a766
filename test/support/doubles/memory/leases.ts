import type { HeldLease, Leases } from '../../../../application/ports/peers/leases.ts'

interface Seeker {
  readonly member: string
  readonly work: (held: HeldLease) => Promise<void>
  isWorking: boolean
}

interface Lease {
  readonly name: string
  token: number
  holder: Seeker | null
  ending: AbortController
  readonly seekers: Set<Seeker>
}

export interface MemoryLeases {
  /** The leases as one process has them: a free one is its own as soon as it seeks it. */
  readonly of: (member: string) => Leases
  /** Gives the lease to another that seeks it, if there is one; its holder hears of it at once, unless it is deaf. */
  readonly depose: (name: string) => void
  /** It loses all its leases; of a `deaf` one, which is frozen or dead, nobody hears that it lost them until `hears`. */
  readonly lose: (member: string, how: 'told' | 'deaf') => void
  readonly hears: (member: string) => void
  readonly holderOf: (name: string) => string | null
  readonly tokenOf: (name: string) => number
}

/** Leases of several processes in memory. */
export const createMemoryLeases = (): MemoryLeases => {
  const leases = new Map<string, Lease>()
  const deaf = new Map<string, Array<AbortController>>()

  const leaseOf = (name: string): Lease => {
    const known = leases.get(name) ?? { name, token: 0, holder: null, ending: new AbortController(), seekers: new Set() }
    leases.set(name, known)
    return known
  }
  const grant = (lease: Lease, except: Seeker | null = null): void => {
    if (lease.holder !== null) return
    const next = [...lease.seekers].find((seeker) => seeker !== except && !seeker.isWorking && !deaf.has(seeker.member))
    if (next === undefined) return
    const ending = new AbortController()
    lease.token += 1
    Object.assign(lease, { holder: next, ending })
    next.isWorking = true
    const over = (): void => {
      next.isWorking = false
      if (lease.ending === ending) lease.holder = null
      setImmediate(() => grant(lease))
    }
    void next.work({ token: lease.token, signal: ending.signal }).then(over, over)
  }
  const take = (lease: Lease): void => {
    const { holder, ending } = lease
    if (holder === null) return
    lease.holder = null
    const withheld = deaf.get(holder.member)
    if (withheld === undefined) ending.abort()
    else withheld.push(ending)
    grant(lease, holder)
    grant(lease)
  }

  return {
    of: (member) => ({
      hold: (name, work) => {
        const lease = leaseOf(name)
        const seeker: Seeker = { member, work: async (held) => await (working = work(held)), isWorking: false }
        let working: Promise<void> = Promise.resolve()
        lease.seekers.add(seeker)
        grant(lease)
        return {
          stop: async () => {
            lease.seekers.delete(seeker)
            if (lease.holder === seeker) lease.ending.abort()
            await working
          },
        }
      },
      holders: () =>
        [...leases.values()].map(({ name, token, holder }) =>
          ({ name, holder: holder?.member ?? null, token, isOwn: holder?.member === member })),
    }),
    depose: (name) => take(leaseOf(name)),
    lose: (member, how) => {
      if (how === 'deaf' && !deaf.has(member)) deaf.set(member, [])
      for (const lease of leases.values()) if (lease.holder?.member === member) take(lease)
    },
    hears: (member) => {
      const withheld = deaf.get(member) ?? []
      deaf.delete(member)
      for (const ending of withheld) ending.abort()
      for (const lease of leases.values()) grant(lease)
    },
    holderOf: (name) => leaseOf(name).holder?.member ?? null,
    tokenOf: (name) => leaseOf(name).token,
  }
}
