import * as E from 'fp-ts/lib/Either.js'
import type { Entry, MemberRegister } from '../../../../infrastructure/mongodb/member-register.ts'

/** A register of members in memory that is always available. */
export const createMemoryMemberRegister = (): MemberRegister => {
  let entries: ReadonlyArray<Entry> = []
  const find = ({ name, incarnation }: Entry): Entry | undefined =>
    entries.find((entry) => entry.name === name && entry.incarnation === incarnation)
  const isUnchanged = (seen: Entry): boolean => find(seen)?.beat === seen.beat
  const without = ({ name, incarnation }: Entry) =>
    entries.filter((entry) => entry.name !== name || entry.incarnation !== incarnation)
  return {
    read: async () => E.right(entries),
    enter: async (own) => {
      // A sole member tolerates no other member.
      if (entries.some(({ name, isSole }) => name === own.name || isSole || own.isSole)) return E.right(false)
      entries = [...entries, own]
      return E.right(true)
    },
    replace: async (seen, own) => {
      if (!isUnchanged(seen)) return E.right(false)
      entries = [...without(seen), own]
      return E.right(true)
    },
    remove: async (seen) => {
      if (!isUnchanged(seen)) return E.right(false)
      entries = without(seen)
      return E.right(true)
    },
    beat: async (own) => {
      const before = find(own)
      if (before === undefined) return E.right(false)
      const { state, address, offers, logAnswers, lives, jobs } = own
      const after = { ...before, state, address, offers, logAnswers, lives, jobs, beat: before.beat + 1 }
      entries = entries.map((entry) => (entry === before ? after : entry))
      return E.right(true)
    },
    leave: async (own) => {
      entries = without(own)
      return E.right(undefined)
    },
  }
}
