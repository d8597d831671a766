import type { HeldLease, Leases } from '../../../../application/ports/leases.ts'

interface Candidate {
  readonly member: string
  readonly work: (held: HeldLease) => Promise<void>
  isWorking: boolean
}

interface Lease {
  readonly name: string
  token: number
  holder: Candidate | null
  /** Ends the work of the holder. */
  ending: AbortController
  readonly candidates: Set<Candidate>
}

/** The leases of several processes. */
export interface MemoryLeases {
  /** The leases as one process sees them. The process gets a free lease as soon as it requests it. */
  readonly of: (member: string) => Leases
  /** Gives the lease to another candidate, if there is one. The former holder is notified unless it is frozen. */
  readonly depose: (name: string) => void
  /** Takes all leases from a process. The process is not notified until `thaw`. */
  readonly freeze: (member: string) => void
  /** Delivers the pending notifications to a frozen process. */
  readonly thaw: (member: string) => void
  readonly holderOf: (name: string) => string | null
  readonly tokenOf: (name: string) => number
}

/** Creates leases in memory for processes of one test. */
export const createMemoryLeases = (): MemoryLeases => {
  const leases = new Map<string, Lease>()
  /** Frozen processes, with the notifications that they have not received. */
  const frozen = new Map<string, Array<AbortController>>()

  const leaseOf = (name: string): Lease => {
    const free: Lease = { name, token: 0, holder: null, ending: new AbortController(), candidates: new Set() }
    const lease = leases.get(name) ?? free
    leases.set(name, lease)
    return lease
  }
  const grant = (lease: Lease, except: Candidate | null = null): void => {
    if (lease.holder !== null) return
    const next = [...lease.candidates].find(
      (candidate) => candidate !== except && !candidate.isWorking && !frozen.has(candidate.member),
    )
    if (next === undefined) return
    const ending = new AbortController()
    lease.token += 1
    Object.assign(lease, { holder: next, ending })
    next.isWorking = true
    const release = (): void => {
      next.isWorking = false
      if (lease.ending === ending) lease.holder = null
      setImmediate(() => grant(lease))
    }
    void next.work({ token: lease.token, signal: ending.signal }).then(release, release)
  }
  const revoke = (lease: Lease): void => {
    const { holder, ending } = lease
    if (holder === null) return
    lease.holder = null
    const pending = frozen.get(holder.member)
    if (pending === undefined) ending.abort()
    else pending.push(ending)
    grant(lease, holder)
    grant(lease)
  }

  return {
    of: (member) => ({
      hold: (name, work) => {
        const lease = leaseOf(name)
        if ([...lease.candidates].some((candidate) => candidate.member === member))
          throw new Error(`the lease ${name} is already requested`)
        let working: Promise<void> = Promise.resolve()
        const candidate: Candidate = { member, work: async (held) => await (working = work(held)), isWorking: false }
        lease.candidates.add(candidate)
        grant(lease)
        return {
          stop: async () => {
            lease.candidates.delete(candidate)
            if (lease.holder === candidate) lease.ending.abort()
            await working.catch(() => undefined)
          },
        }
      },
      holders: () =>
        [...leases.values()].map(({ name, token, holder }) => ({
          name, holder: holder?.member ?? null, token, isOwn: holder?.member === member,
        })),
    }),
    depose: (name) => revoke(leaseOf(name)),
    freeze: (member) => {
      if (!frozen.has(member)) frozen.set(member, [])
      for (const lease of leases.values()) if (lease.holder?.member === member) revoke(lease)
    },
    thaw: (member) => {
      const pending = frozen.get(member) ?? []
      frozen.delete(member)
      for (const ending of pending) ending.abort()
      for (const lease of leases.values()) grant(lease)
    },
    holderOf: (name) => leaseOf(name).holder?.member ?? null,
    tokenOf: (name) => leaseOf(name).token,
  }
}
