import { randomUUID } from 'node:crypto'
import type { Collection, Db } from 'mongodb'
import { FORMAT, RELEASE, formatProblem } from '../stores/format.ts'
import { checkUpserted, despiteRaces } from './guarded-writes.ts'

interface Mark {
  readonly _id: 'stenolog'
  readonly format: number
  /** Of the newest version that has written to the database; absent before format 2. */
  readonly release?: number
}

/** Which MongoDB this is, whatever its address. */
interface Cluster {
  readonly _id: 'cluster'
  readonly id: string
}

const marksOf = (database: Db): Collection<Mark> => database.collection<Mark>('format')

/** Why this version must not use these databases, in words for people; null where it may. */
export const whyNotDatabases = async (databases: ReadonlyArray<Db>): Promise<string | null> => {
  for (const database of databases) {
    const mark = await marksOf(database).findOne({ _id: 'stenolog' })
    const refusal = formatProblem(`the database ${database.databaseName} of MongoDB`, mark?.format, mark?.release)
    if (refusal !== null) return refusal
  }
  return null
}

/** Writes into each database which format it has, as who writes to it must; the mark of a newer version stays. */
export const markDatabases = async (databases: ReadonlyArray<Db>): Promise<void> => {
  const newest = { $max: { format: FORMAT, release: RELEASE } }
  for (const database of databases) {
    const marked = await despiteRaces(() => marksOf(database).updateOne({ _id: 'stenolog' }, newest, { upsert: true }))
    checkUpserted(marked)
  }
}

/** The id of this MongoDB, made the first time: logs name it. Beside the keys, as it must outlast the read models. */
export const clusterOf = async ({ keyring }: { readonly keyring: Db }): Promise<string> => {
  const clusters = keyring.collection<Cluster>('format')
  const made = { $setOnInsert: { id: randomUUID() } }
  const options = { upsert: true, returnDocument: 'after' } as const
  const cluster = await despiteRaces(() => clusters.findOneAndUpdate({ _id: 'cluster' }, made, options))
  if (cluster === null) throw new Error('the server made no id of its own')
  return cluster.id
}
