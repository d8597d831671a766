import { hash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { rowsInPages, transaction } from '../database.ts'
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
 * Returns the SHA-256 over the columns of a stream's row, which decide which of its events are read. It omits `last`,
 * which the rows of the events prove. Like the hash chain, it reveals damage and careless edits, but not edits by
 * somebody who recomputes it.
 */
const streamDigest = (...columns: StreamColumns): Buffer => bytesOf(hash('sha256', JSON.stringify(columns), 'binary'))

export const newStreamDigest = (name: string): Buffer => streamDigest(name, 0, 0, 0, null, null, null)

/** SQL expression for the correct digest of a row of `streams`. Call `useStreamDigest` first. */
const DIGEST = 'stream_digest(name, first, base, purged, max_count, max_age_ms, oldest_at)'

/** SQL that updates digests, without its WHERE clause. It must run in each transaction that changes these columns. */
export const SET_DIGEST = `UPDATE streams SET digest = ${DIGEST}`

/** Lets a connection compute digests of streams. */
export const useStreamDigest = (database: DatabaseSync): void =>
  database.function(
    'stream_digest',
    { deterministic: true, directOnly: true, varargs: true },
    streamDigest as (...columns: Array<unknown>) => Buffer,
  )

const hasDigests = (database: DatabaseSync): boolean =>
  database.prepare("SELECT 1 FROM pragma_table_info('streams') WHERE name = 'digest'").get() !== undefined

/** Creates the tables of the log. Adds digests to streams of versions without digests, so later edits are detected. */
export const prepareEventLog = (database: DatabaseSync): void => {
  useStreamDigest(database)
  transaction(database, () => {
    database.exec(EVENT_LOG_SCHEMA)
    if (!hasDigests(database))
      database.exec(`ALTER TABLE streams ADD COLUMN digest BLOB NOT NULL DEFAULT x''; ${SET_DIGEST}`)
    database.exec(`
      INSERT INTO coverage(since)
      SELECT (SELECT coalesce(max(pos), 0) FROM events) WHERE NOT EXISTS (SELECT 1 FROM coverage)
    `)
  })
}

/** Returns the streams whose row in `streams` is damaged. Returns no stream if the log has no digests yet. */
export const damagedStreams = (database: DatabaseSync): ReadonlyArray<string> => {
  if (!hasDigests(database)) return []
  useStreamDigest(database)
  const select = `SELECT sid, name, digest <> ${DIGEST} AS isDamaged FROM streams WHERE sid > ?`
  const rows = rowsInPages(database, select, 'sid', 0)
  return [...rows].filter(({ isDamaged }) => isDamaged !== 0).map(({ name }) => String(name))
}

export const isDamagedStream = (database: DatabaseSync, name: string): boolean => {
  if (!hasDigests(database)) return false
  useStreamDigest(database)
  return database.prepare(`SELECT 1 FROM streams WHERE name = ? AND digest <> ${DIGEST}`).get(name) !== undefined
}

/** Returns the row number after which edits of streams are detected; null: the log has no digests yet. */
export const digestsSince = (database: DatabaseSync): number | null =>
  hasDigests(database) ? Number(database.prepare('SELECT since FROM coverage').get()?.['since'] ?? 0) : null

/** How SQLite writes down the column that `prepareEventLog` adds to a log of a version without digests. */
const ADDED_DIGEST = /digest BLOB NOT NULL DEFAULT x''\)/

/** Returns why the mark cannot be true from which on edits of streams are detected, or null. */
export const coverageProblem = (database: DatabaseSync): string | null => {
  if (!hasDigests(database)) return null
  const streams = database.prepare("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = 'streams'").get()
  const last = Number(database.prepare('SELECT coalesce(max(pos), 0) AS last FROM events').get()?.['last'])
  const latest = ADDED_DIGEST.test(String(streams?.['sql'])) ? last : 0
  // Earlier versions added a mark of 0 at each start.
  const marks = database.prepare('SELECT since FROM coverage').all().map(({ since }) => Number(since))
  if (marks.length === 0) return 'the mark of the position at which stream digests begin is missing'
  const wrong = marks.find((since) => since < 0 || since > latest)
  return wrong === undefined ? null : `stream digests cannot begin at position ${wrong}`
}
