import { hash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { transaction } from '../database.ts'
import { EVENT_LOG_SCHEMA, bytesOf } from './event-row.ts'

type Nullable = number | null

type StreamColumns = readonly [
  name: string,
  first: number,
  base: number,
  purged: number,
  maxCount: Nullable,
  maxAgeMs: Nullable,
  oldestAt: Nullable,
]

/**
 * SHA-256 over what decides which events of a stream are read: all columns of its row but `last`, which the rows of the
 * events prove. Like the hash chain it shows damage and careless edits, not those of who computes it anew.
 */
const streamDigest = (...columns: StreamColumns): Buffer => bytesOf(hash('sha256', JSON.stringify(columns), 'binary'))

export const newStreamDigest = (name: string): Buffer => streamDigest(name, 0, 0, 0, null, null, null)

/** The digest that a row of `streams` should have, in SQL, after `useStreamDigest`. */
const DIGEST = 'stream_digest(name, first, base, purged, max_count, max_age_ms, oldest_at)'

/** To be followed by a WHERE, and run after each change of such a column, in the same transaction. */
export const SET_DIGEST = `UPDATE streams SET digest = ${DIGEST}`

const useStreamDigest = (database: DatabaseSync): void =>
  database.function(
    'stream_digest',
    { deterministic: true, directOnly: true, varargs: true },
    streamDigest as (...columns: Array<unknown>) => Buffer,
  )

const isCovered = (database: DatabaseSync): boolean =>
  database.prepare("SELECT 1 FROM pragma_table_info('streams') WHERE name = 'digest'").get() !== undefined

/** Makes the tables of the log. Streams of a version without digests get theirs now: from here on they are covered. */
export const prepareEventLog = (database: DatabaseSync): void => {
  useStreamDigest(database)
  transaction(database, () => {
    database.exec(EVENT_LOG_SCHEMA)
    if (!isCovered(database))
      database.exec(`ALTER TABLE streams ADD COLUMN digest BLOB NOT NULL DEFAULT x''; ${SET_DIGEST}`)
    database.exec(`
      INSERT INTO coverage(since)
      SELECT coalesce(max(pos), 0) FROM events WHERE NOT EXISTS (SELECT 1 FROM coverage)
    `)
  })
}

/** Streams whose row is not what was written; none where the log has no digests yet. */
export const damagedStreams = (database: DatabaseSync): ReadonlyArray<string> => {
  if (!isCovered(database)) return []
  useStreamDigest(database)
  return database.prepare(`SELECT name FROM streams WHERE digest <> ${DIGEST}`).all().map(({ name }) => String(name))
}

/** Whether the row of this stream is not what was written. */
export const isDamagedStream = (database: DatabaseSync, name: string): boolean => {
  if (!isCovered(database)) return false
  useStreamDigest(database)
  return database.prepare(`SELECT 1 FROM streams WHERE name = ? AND digest <> ${DIGEST}`).get(name) !== undefined
}

/** The position behind which a change of a stream's row is found; null where nothing is covered yet. */
export const coveredSince = (database: DatabaseSync): number | null =>
  isCovered(database) ? Number(database.prepare('SELECT since FROM coverage').get()?.['since'] ?? 0) : null
