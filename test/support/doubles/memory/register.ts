import * as E from 'fp-ts/lib/Either.js'
import type { Lease, LeaseRegister } from '../../../../infrastructure/mongodb/lease-register.ts'
import type { Entry, MemberRegister } from '../../../../infrastructure/mongodb/member-register.ts'

/** A register in memory that always answers. */
export const createMemoryRegister = (): MemberRegister => {
  let there: ReadonlyArray<Entry> = []
  const find = ({ name, incarnation }: Entry): Entry | undefined => there.find((one) => one.name === name && one.incarnation === incarnation)
  const isSeen = (seen: Entry): boolean => find(seen)?.beat === seen.beat
  const without = ({ name, incarnation }: Entry) => there.filter((one) => one.name !== name || one.incarnation !== incarnation)
  return {
    look: async () => E.right(there),
    enter: async (own) => {
      // Versions that share with nobody keep an index for that.
      if (there.some(({ name, isSole }) => name === own.name || isSole || own.isSole)) return E.right(false)
      there = [...there, own]
      return E.right(true)
    },
    replace: async (seen, own) => {
      if (!isSeen(seen)) return E.right(false)
      there = [...without(seen), own]
      return E.right(true)
    },
    strike: async (seen) => {
      if (!isSeen(seen)) return E.right(false)
      there = without(seen)
      return E.right(true)
    },
    beat: async (own) => {
      const before = find(own)
      if (before === undefined) return E.right(false)
      const { state, address, offers, logAnswers, lives, jobs } = own
      there = there.map((one) => (one === before ? { ...one, state, address, offers, logAnswers, lives, jobs, beat: one.beat + 1 } : one))
      return E.right(true)
    },
    leave: async (own) => {
      there = without(own)
      return E.right(undefined)
    },
  }
}

/** Leases in memory that always answer. */
export const createMemoryLeases = (): LeaseRegister => {
  const there = new Map<string, Lease>()
  return {
    look: async () => E.right([...there.values()]),
    take: async (name, seen, { name: holder, incarnation }) => {
      const token = (seen?.token ?? 0) + 1
      if (there.get(name)?.token !== seen?.token) return E.right(null)
      there.set(name, { name, holder, incarnation, token })
      return E.right(token)
    },
    giveBack: async (name, { incarnation }, token) => {
      const lease = there.get(name)
      if (lease?.incarnation === incarnation && lease.token === token) there.set(name, { ...lease, holder: null, incarnation: null })
      return E.right(undefined)
    },
  }
}
