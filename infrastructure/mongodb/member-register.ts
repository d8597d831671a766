import type { Either } from 'fp-ts/lib/Either.js'
import { type Collection, MongoServerError } from 'mongodb'
import type { Announced, Profile } from '../../application/ports/members.ts'
import { NOTHING_ANNOUNCED } from '../embedded-members.ts'
import type { Claim } from '../store-rules/claim.ts'
import type { MongoConnection } from './connection.ts'
import { isDuplicate } from './guarded-writes.ts'
import { outcomeOf } from './outcome.ts'

/** A process in the register. Its `incarnation` is the id of one run of the process. A beat is a heartbeat. */
export interface Entry extends Claim, Profile, Announced {
  /** Milliseconds without a beat after which the process counts as lost. */
  readonly ttl: number
  /** Number of beats. A growing number shows that the process is running, without comparing clocks. */
  readonly beat: number
  /** Whether the process runs an older version that cannot share the stores. */
  readonly isSole: boolean
}

/** The stored members. Each operation is atomic. Left: the reason of a failure; a write may still have succeeded. */
export interface MemberRegister {
  readonly read: () => Promise<Either<string, ReadonlyArray<Entry>>>
  /** Adds an entry. False: another process has the name, or an older version excludes others. */
  readonly enter: (own: Entry) => Promise<Either<string, boolean>>
  /** Replaces the entry `seen` with `own`. False: `seen` has a new beat, or does not exist any more. */
  readonly replace: (seen: Entry, own: Entry) => Promise<Either<string, boolean>>
  /** Removes the entry `seen`. False: it has a new beat, or does not exist any more. */
  readonly remove: (seen: Entry) => Promise<Either<string, boolean>>
  /** Adds a beat and writes the announced state. False: the entry of this incarnation does not exist any more. */
  readonly beat: (own: Entry) => Promise<Either<string, boolean>>
  /** Removes the entry of this incarnation, whatever its beat is. */
  readonly leave: (own: Entry) => Promise<Either<string, void>>
}

/** Fields that only versions with shared stores write. */
type Shared = Profile & Announced

interface MemberDocument extends Omit<Claim, 'name'>, Partial<Shared> {
  readonly _id: string
  readonly ttl: number
  readonly beat: number
  /**
   * Equal in all entries. Older versions, which cannot share the stores, have a unique index on it. So they cannot
   * enter while any entry exists.
   */
  readonly only: true
  /** Time of the last beat by the server's clock, for operators. */
  readonly seenAt?: Date
}

/** The unique index of versions that cannot share the stores. */
const SOLE_INDEX = 'only_one'

/** Error codes for a missing collection or index: NamespaceNotFound, IndexNotFound. */
const NOT_FOUND_CODES: ReadonlySet<unknown> = new Set([26, 27])

/** Default values for entries of older versions. */
const SHARED_DEFAULTS: Shared = { ...NOTHING_ANNOUNCED, roles: [], version: '', speaks: { log: 0, relay: 0 } }

const entryOf = ({ _id: name, only: _only, seenAt: _seenAt, ...others }: MemberDocument): Entry => ({
  ...SHARED_DEFAULTS, ...others, name, isSole: others.roles === undefined,
})

const documentOf = ({ name, isSole: _isSole, ...others }: Entry): MemberDocument => ({
  _id: name, ...others, only: true,
})

const dropSoleIndex = async (members: Collection<MemberDocument>): Promise<void> => {
  try {
    await members.dropIndex(SOLE_INDEX)
  } catch (error) {
    if (!(error instanceof MongoServerError) || !NOT_FOUND_CODES.has(error.code)) throw error
  }
}

export const createMemberRegister = (
  { readModels, limitMs }: Pick<MongoConnection, 'readModels' | 'limitMs'>,
): MemberRegister => {
  const members = readModels.collection<MemberDocument>('members')
  const sameProcess = ({ name, incarnation }: Entry) => ({ _id: name, incarnation })
  return {
    read: () =>
      outcomeOf(limitMs, async ({ maxTimeMS }) => (await members.find({}, { maxTimeMS }).toArray()).map(entryOf)),
    enter: (own) =>
      outcomeOf(limitMs, async () => {
        try {
          await members.insertOne(documentOf(own))
          return true
        } catch (error) {
          if (!isDuplicate(error)) throw error
          // The duplicate may come from the index of an older version, which recreates it at each start.
          await dropSoleIndex(members)
          return false
        }
      }),
    replace: (seen, own) =>
      outcomeOf(limitMs, async () => {
        const { _id, ...others } = documentOf(own)
        const { matchedCount } = await members.replaceOne({ ...sameProcess(seen), beat: seen.beat }, others)
        return matchedCount === 1
      }),
    remove: (seen) =>
      outcomeOf(limitMs, async () => {
        const { deletedCount } = await members.deleteOne({ ...sameProcess(seen), beat: seen.beat })
        return deletedCount === 1
      }),
    beat: (own) =>
      outcomeOf(limitMs, async () => {
        const { state, address, offers, logAnswers, lives, jobs } = own
        const announced: Announced = { state, address, offers, logAnswers, lives, jobs }
        const change = { $inc: { beat: 1 }, $currentDate: { seenAt: true }, $set: announced } as const
        const { matchedCount } = await members.updateOne(sameProcess(own), change)
        return matchedCount === 1
      }),
    leave: (own) =>
      outcomeOf(limitMs, async () => {
        await members.deleteOne(sameProcess(own))
      }),
  }
}
