import type { Either } from 'fp-ts/lib/Either.js'
import type { Claim } from '../stores/claim.ts'
import type { MongoConnection } from './connection.ts'
import { isDuplicate } from './guarded-writes.ts'
import { outcomeOf } from './outcome.ts'

/** A process in the register. */
export interface Member extends Claim {
  /** Milliseconds of silence after which it may be taken for lost. */
  readonly ttl: number
  /** Counts its beats; whoever sees it grow knows that the process lives, and no clock is compared. */
  readonly beat: number
}

/** Where members stand, each step at once for all. Left: why there is no answer; a write may have been made all the same. */
export interface MemberRegister {
  readonly look: () => Promise<Either<string, ReadonlyArray<Member>>>
  /** False where there is another one. */
  readonly enter: (member: Member) => Promise<Either<string, boolean>>
  /** Takes out what was seen; false where it has beaten since, or is not there. */
  readonly strike: (member: Member) => Promise<Either<string, boolean>>
  /** False where the incarnation does not stand there any more. */
  readonly beat: (member: Member) => Promise<Either<string, boolean>>
  /** Takes out the incarnation, however often it has beaten. */
  readonly leave: (member: Member) => Promise<Either<string, void>>
}

interface MemberDocument extends Omit<Member, 'name'> {
  readonly _id: string
  /** The same in each: its unique index lets a single one in, until many processes are allowed. */
  readonly only: true
  /** Of the last beat, by the clock of the server: for people alone. */
  readonly seenAt?: Date
}

const SOLE = 'only_one'

/** The register in the database of the read models. */
export const openMemberRegister = async ({ readModels, limitMs }: Pick<MongoConnection, 'readModels' | 'limitMs'>): Promise<MemberRegister> => {
  const members = readModels.collection<MemberDocument>('members')
  await members.createIndex({ only: 1 }, { unique: true, name: SOLE })
  const itself = ({ name, incarnation }: Member) => ({ _id: name, incarnation })
  return {
    look: () =>
      outcomeOf(limitMs, async ({ maxTimeMS }) => {
        const found = await members.find({}, { maxTimeMS }).toArray()
        return found.map(({ _id, only: _only, seenAt: _seenAt, ...member }) => ({ ...member, name: _id }))
      }),
    enter: ({ name, ...member }) =>
      outcomeOf(limitMs, async () => {
        try {
          await members.insertOne({ _id: name, ...member, only: true })
          return true
        } catch (error) {
          if (isDuplicate(error)) return false
          throw error
        }
      }),
    strike: (member) =>
      outcomeOf(limitMs, async () => {
        const { deletedCount } = await members.deleteOne({ ...itself(member), beat: member.beat })
        return deletedCount === 1
      }),
    beat: (member) =>
      outcomeOf(limitMs, async () => {
        const { matchedCount } = await members.updateOne(itself(member), { $inc: { beat: 1 }, $currentDate: { seenAt: true } })
        return matchedCount === 1
      }),
    leave: (member) =>
      outcomeOf(limitMs, async () => {
        await members.deleteOne(itself(member))
      }),
  }
}
