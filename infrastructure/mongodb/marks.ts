import type { Collection, Db } from 'mongodb'
import { FORMAT, RELEASE, whyNotFormat } from '../stores/format.ts'
import { checkUpserted, despiteRaces } from './guarded-writes.ts'

interface Mark {
  readonly _id: 'stenolog'
  readonly format: number
  /** Of the newest version that has written to the database; absent before format 2. */
  readonly release?: number
}

const marksOf = (database: Db): Collection<Mark> => database.collection<Mark>('format')

/** Why this version must not use these databases, in words for people; null where it may. */
export const whyNotDatabases = async (databases: ReadonlyArray<Db>): Promise<string | null> => {
  for (const database of databases) {
    const mark = await marksOf(database).findOne({ _id: 'stenolog' })
    const refusal = whyNotFormat(`the database ${database.databaseName} of MongoDB`, mark?.format, mark?.release)
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
