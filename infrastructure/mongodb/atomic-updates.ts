import { randomUUID } from 'node:crypto'
import type { MongoConnection } from './connection.ts'

/** One round found a server whose updates are not atomic in three of four cases, so there are several. */
const ROUNDS = 3
const WRITERS = 16
/** A busy server may need longer than the limit of a request to accept so many new connections. */
const ATTEMPTS = 5

/**
 * Lets 16 writers attempt the same change at the same time, in three rounds. `compareAndSet` changes the state from
 * `round` to `round + 1` if it still equals `round`, and returns whether it did. Returns the winners of each round: one
 * if the store is safe.
 */
export const winnersOfRaces = async (
  compareAndSet: (round: number, writer: number) => Promise<boolean>,
): Promise<ReadonlyArray<number>> => {
  const winners: Array<number> = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const writers = Array.from({ length: WRITERS }, (_, writer) => compareAndSet(round, writer))
    winners.push((await Promise.all(writers)).filter((hasWon) => hasWon).length)
  }
  return winners
}

interface Scratch {
  readonly _id: string
  readonly round: number
}

const race = async (readModels: MongoConnection['readModels']): Promise<ReadonlyArray<number>> => {
  const scratch = readModels.collection<Scratch>('scratch')
  const _id = randomUUID()
  await scratch.insertOne({ _id, round: 0 })
  const winners = await winnersOfRaces(async (round) => {
    const { matchedCount } = await scratch.updateOne({ _id, round }, { $set: { round: round + 1 } })
    return matchedCount === 1
  })
  await scratch.deleteOne({ _id })
  return winners
}

const raceWhileBusy = async (
  readModels: MongoConnection['readModels'], attempts: number,
): Promise<ReadonlyArray<number>> => {
  try {
    return await race(readModels)
  } catch (error) {
    if (attempts === 1) throw error
    return await raceWhileBusy(readModels, attempts - 1)
  }
}

/**
 * Throws an Error for users if the updates of the server are not atomic, as with some servers that only speak MongoDB's
 * protocol. Leases and checkpoints would then not exclude other processes. Uses documents of its own.
 */
export const requireAtomicUpdates = async ({ readModels }: Pick<MongoConnection, 'readModels'>): Promise<void> => {
  const winners = await raceWhileBusy(readModels, ATTEMPTS)
  if (winners.some((count) => count !== 1))
    throw new Error(
      'the server of STENOLOG_MONGO_URL is not safe to use: its updates are not atomic. Of 16 concurrent changes of a '
      + `document one may succeed; in ${ROUNDS} rounds ${winners.join(', ')} succeeded. Use MongoDB 4.4 or later`,
    )
}
