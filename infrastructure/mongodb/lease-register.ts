import type { Either } from 'fp-ts/lib/Either.js'
import type { Self } from '../../application/ports/members.ts'
import type { MongoConnection } from './connection.ts'
import { isDuplicate } from './guarded-writes.ts'
import { outcomeOf } from './outcome.ts'

/** The right of one process to run a task. The name of the lease names the task. */
export interface Lease {
  readonly name: string
  /** Null: the lease was released. */
  readonly holder: string | null
  readonly incarnation: string | null
  /** Grows by one with each holder. */
  readonly token: number
}

/** The stored leases. Each operation is atomic. Left: the reason of a failure; a write may still have succeeded. */
export interface LeaseRegister {
  readonly read: () => Promise<Either<string, ReadonlyArray<Lease>>>
  /**
   * Takes a lease if it still equals `seen` (undefined: it did not exist). Returns the token, or null when another
   * process was faster.
   */
  readonly take: (name: string, seen: Lease | undefined, by: Self) => Promise<Either<string, number | null>>
  /** Releases a lease, unless it has another token or holder. */
  readonly release: (name: string, by: Self, token: number) => Promise<Either<string, void>>
}

interface LeaseDocument extends Omit<Lease, 'name'> {
  readonly _id: string
}

const FIRST_TOKEN = 1

export const createLeaseRegister = (
  { readModels, limitMs }: Pick<MongoConnection, 'readModels' | 'limitMs'>,
): LeaseRegister => {
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
    read: () =>
      outcomeOf(limitMs, async ({ maxTimeMS }) => {
        const found = await leases.find({}, { maxTimeMS }).toArray()
        return found.map(({ _id: name, holder, incarnation, token }) => ({ name, holder, incarnation, token }))
      }),
    take: (_id, seen, by) =>
      outcomeOf(limitMs, async () => {
        if (seen === undefined) return await insert(_id, by)
        const token = seen.token + 1
        const { name: holder, incarnation } = by
        const change = { $set: { holder, incarnation, token } }
        const { matchedCount } = await leases.updateOne({ _id, token: seen.token }, change)
        return matchedCount === 1 ? token : null
      }),
    release: (_id, { incarnation }, token) =>
      outcomeOf(limitMs, async () => {
        await leases.updateOne({ _id, incarnation, token }, { $set: { holder: null, incarnation: null } })
      }),
  }
}
