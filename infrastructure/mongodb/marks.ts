import { randomUUID } from 'node:crypto'
import type { Collection, Db } from 'mongodb'
import { FORMAT, RELEASE, formatProblem } from '../store-rules/format.ts'
import { checkUpserted, retryUpsert } from './guarded-writes.ts'

interface Mark {
  readonly _id: 'stenolog'
  readonly format: number
  /** The newest version that has written to the database; absent before format 2. */
  readonly release?: number
}

/** Identifies this MongoDB independently of its address. */
interface Cluster {
  readonly _id: 'cluster'
  readonly id: string
}

const marksOf = (database: Db): Collection<Mark> => database.collection<Mark>('format')

/** Returns why this version must not use these databases, as a message for users; null: it may. */
export const databaseProblem = async (databases: ReadonlyArray<Db>): Promise<string | null> => {
  for (const database of databases) {
    const mark = await marksOf(database).findOne({ _id: 'stenolog' })
    const problem = formatProblem(`the database ${database.databaseName} of MongoDB`, mark?.format, mark?.release)
    if (problem !== null) return problem
  }
  return null
}

/** Writes the storage format into each database. Keeps the mark of a newer version. */
export const markDatabases = async (databases: ReadonlyArray<Db>): Promise<void> => {
  const newest = { $max: { format: FORMAT, release: RELEASE } }
  for (const database of databases) {
    const marked = await retryUpsert(() => marksOf(database).updateOne({ _id: 'stenolog' }, newest, { upsert: true }))
    checkUpserted(marked)
  }
}

/**
 * Returns the id of this MongoDB, which the mark of the event log contains. Creates the id on the first call and stores
 * it next to the keys, so it survives a rebuild of the read models.
 */
export const clusterOf = async ({ keyring }: { readonly keyring: Db }): Promise<string> => {
  const clusters = keyring.collection<Cluster>('format')
  const change = { $setOnInsert: { id: randomUUID() } }
  const options = { upsert: true, returnDocument: 'after' } as const
  const cluster = await retryUpsert(() => clusters.findOneAndUpdate({ _id: 'cluster' }, change, options))
  if (cluster === null) throw new Error('the server did not create its id')
  return cluster.id
}
