import type { Either } from 'fp-ts/lib/Either.js'
import { MongoServerError } from 'mongodb'
import type { Collection } from 'mongodb'
import type { Announced, Profile } from '../../application/ports/peers/members.ts'
import { NOTHING_ANNOUNCED } from '../embedded-members.ts'
import type { Claim } from '../stores/claim.ts'
import type { MongoConnection } from './connection.ts'
import { isDuplicate } from './guarded-writes.ts'
import { outcomeOf } from './outcome.ts'

/** A process in the register. */
export interface Entry extends Claim, Profile, Announced {
  /** Milliseconds of silence after which it may be taken for lost. */
  readonly ttl: number
  /** Counts its beats; whoever sees it grow knows that the process lives, and no clock is compared. */
  readonly beat: number
  /** Of a version that shares the stores with nobody. */
  readonly isSole: boolean
}

/** Where members stand, each step at once for all. Left: why there is no answer; a write may have been made all the same. */
export interface MemberRegister {
  readonly look: () => Promise<Either<string, ReadonlyArray<Entry>>>
  /** False where another one has the name, or has everything. */
  readonly enter: (own: Entry) => Promise<Either<string, boolean>>
  /** Puts `own` in the place of what was seen under its name; false where that has beaten since, or is not there. */
  readonly replace: (seen: Entry, own: Entry) => Promise<Either<string, boolean>>
  /** Takes out what was seen; false where it has beaten since, or is not there. */
  readonly strike: (seen: Entry) => Promise<Either<string, boolean>>
  /** One more beat, with what the member says of itself; false where the incarnation does not stand there any more. */
  readonly beat: (own: Entry) => Promise<Either<string, boolean>>
  /** Takes out the incarnation, however often it has beaten. */
  readonly leave: (own: Entry) => Promise<Either<string, void>>
}

/** What versions say that share the stores. */
type Shared = Profile & Announced

interface MemberDocument extends Omit<Claim, 'name'>, Partial<Shared> {
  readonly _id: string
  readonly ttl: number
  readonly beat: number
  /**
   * The same in each, for versions that share the stores with nobody: they make a unique index of it, so none of them
   * gets in while anybody is there.
   */
  readonly only: true
  /** Of the last beat, by the clock of the server: for people alone. */
  readonly seenAt?: Date
}

/** The index of those versions. */
const SOLE = 'only_one'

/** Codes for what is not there to be dropped: NamespaceNotFound, IndexNotFound. */
const ABSENT: ReadonlySet<unknown> = new Set([26, 27])

const UNSAID: Shared = { ...NOTHING_ANNOUNCED, roles: [], version: '', speaks: { log: 0, relay: 0 } }

const entryOf = ({ _id: name, only: _only, seenAt: _seenAt, ...said }: MemberDocument): Entry => ({
  ...UNSAID, ...said, name, isSole: said.roles === undefined,
})

const documentOf = ({ name, isSole: _isSole, ...said }: Entry): MemberDocument => ({ _id: name, ...said, only: true })

const dropSole = async (members: Collection<MemberDocument>): Promise<void> => {
  try {
    await members.dropIndex(SOLE)
  } catch (error) {
    if (!(error instanceof MongoServerError) || !ABSENT.has(error.code)) throw error
  }
}

/** The register in the database of the read models. */
export const createMemberRegister = ({ readModels, limitMs }: Pick<MongoConnection, 'readModels' | 'limitMs'>): MemberRegister => {
  const members = readModels.collection<MemberDocument>('members')
  const itself = ({ name, incarnation }: Entry) => ({ _id: name, incarnation })
  return {
    look: () => outcomeOf(limitMs, async ({ maxTimeMS }) => (await members.find({}, { maxTimeMS }).toArray()).map(entryOf)),
    enter: (own) =>
      outcomeOf(limitMs, async () => {
        try {
          await members.insertOne(documentOf(own))
          return true
        } catch (error) {
          if (!isDuplicate(error)) throw error
          // Perhaps not the name, but the index of an older version, which any start of one makes again.
          await dropSole(members)
          return false
        }
      }),
    replace: (seen, own) =>
      outcomeOf(limitMs, async () => {
        const { _id, ...others } = documentOf(own)
        const { matchedCount } = await members.replaceOne({ ...itself(seen), beat: seen.beat }, others)
        return matchedCount === 1
      }),
    strike: (seen) =>
      outcomeOf(limitMs, async () => {
        const { deletedCount } = await members.deleteOne({ ...itself(seen), beat: seen.beat })
        return deletedCount === 1
      }),
    beat: (own) =>
      outcomeOf(limitMs, async () => {
        const { state, address, offers, logAnswers, lives, jobs } = own
        const said: Announced = { state, address, offers, logAnswers, lives, jobs }
        const { matchedCount } = await members.updateOne(itself(own), { $inc: { beat: 1 }, $currentDate: { seenAt: true }, $set: said })
        return matchedCount === 1
      }),
    leave: (own) =>
      outcomeOf(limitMs, async () => {
        await members.deleteOne(itself(own))
      }),
  }
}
