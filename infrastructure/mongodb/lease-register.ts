import type { Either } from 'fp-ts/lib/Either.js'
import type { Self } from '../../application/ports/peers/members.ts'
import type { MongoConnection } from './connection.ts'
import { isDuplicate } from './guarded-writes.ts'
import { outcomeOf } from './outcome.ts'

/** A lease as it stands there. */
export interface Lease {
  readonly name: string
  /** Null: it was given back. */
  readonly holder: string | null
  readonly incarnation: string | null
  /** One more with each holder. */
  readonly token: number
}

/** Where leases stand, each step at once for all. Left: why there is no answer; a write may have been made all the same. */
export interface LeaseRegister {
  readonly look: () => Promise<Either<string, ReadonlyArray<Lease>>>
  /** Takes a lease that is as it was seen, undefined: not there yet. Answers its token; null where somebody was faster. */
  readonly take: (name: string, seen: Lease | undefined, by: Self) => Promise<Either<string, number | null>>
  /** Gives back what was taken under this token, unless it is another's by now. */
  readonly giveBack: (name: string, by: Self, token: number) => Promise<Either<string, void>>
}

interface LeaseDocument extends Omit<Lease, 'name'> {
  readonly _id: string
}

const FIRST_TOKEN = 1

/** The leases in the database of the read models. */
export const createLeaseRegister = ({ readModels, limitMs }: Pick<MongoConnection, 'readModels' | 'limitMs'>): LeaseRegister => {
  const leases = readModels.collection<LeaseDocument>('leases')
  const insert = async (_id: string, { name: holder, incarnation }: Self): Promise<number | null> => {
    try {
      await leases.insertOne({ _id, holder, incarnation, token: FIRST_TOKEN })
      return FIRST_TOKEN
    } catch (error) {
      if (isDuplicate(error)) return null
      throw error
    }
  }
  return {
    look: () =>
      outcomeOf(limitMs, async ({ maxTimeMS }) => {
        const found = await leases.find({}, { maxTimeMS }).toArray()
        return found.map(({ _id: name, holder, incarnation, token }) => ({ name, holder, incarnation, token }))
      }),
    take: (_id, seen, by) =>
      outcomeOf(limitMs, async () => {
        if (seen === undefined) return await insert(_id, by)
        const token = seen.token + 1
        const { name: holder, incarnation } = by
        const { matchedCount } = await leases.updateOne({ _id, token: seen.token }, { $set: { holder, incarnation, token } })
        return matchedCount === 1 ? token : null
      }),
    giveBack: (_id, { incarnation }, token) =>
      outcomeOf(limitMs, async () => {
        await leases.updateOne({ _id, incarnation, token }, { $set: { holder: null, incarnation: null } })
      }),
  }
}
