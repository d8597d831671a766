import * as E from 'fp-ts/lib/Either.js'
import type { Member, MemberRegister } from '../../infrastructure/mongodb/member-register.ts'

/** A register in memory that always answers; like MongoDB's, it has one place. */
export const createMemoryRegister = (): MemberRegister & { readonly member: () => Member | null } => {
  let there: Member | null = null
  const isThere = ({ incarnation }: Member): boolean => there?.incarnation === incarnation
  return {
    member: () => there,
    look: async () => E.right(there === null ? [] : [there]),
    enter: async (member) => {
      if (there !== null) return E.right(false)
      there = member
      return E.right(true)
    },
    strike: async (member) => {
      if (!isThere(member) || there?.beat !== member.beat) return E.right(false)
      there = null
      return E.right(true)
    },
    beat: async (member) => {
      if (there === null || !isThere(member)) return E.right(false)
      there = { ...there, beat: there.beat + 1 }
      return E.right(true)
    },
    leave: async (member) => {
      if (isThere(member)) there = null
      return E.right(undefined)
    },
  }
}
