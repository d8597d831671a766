import { basename } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { FORMAT, RELEASE, formatProblem } from '../stores/format.ts'

const BUSY_TIMEOUT_MS = 2000
/** A commit after a page was split looks at every page in the cache (pcache1TruncateUnsafe): with 64 MiB that was a sixth of a busy writer's time. */
const CACHE_KIB = 8192
/** What a write-ahead file that had to grow, for a long read, is cut back to once all of it is in the database. */
const JOURNAL_BYTES = 16 * 1024 * 1024

/** Result codes of SQLite: https://www.sqlite.org/rescode.html */
/** Bad SQL, a broken constraint, a value of the wrong type, an interface used wrongly: mistakes of the code, not of the disk. */
const DEFECTS: ReadonlyArray<number | undefined> = [1, 19, 20, 21, 25]
const BUSY = 5
const CORRUPT = 11
const NOT_A_DATABASE = 26

export interface WriterOptions {
  /** FULL survives a power cut, NORMAL a kill -9: for what can be rebuilt. */
  readonly synchronous: 'FULL' | 'NORMAL'
  /** Overwrites what is deleted. */
  readonly secureDelete?: boolean
}

interface Mark {
  /** `user_version`, of which 0 is none. */
  readonly format: number
  /** `application_id`: the newest version that has written the file, 0 where that is not known. */
  readonly release: number
}

/** Closes the file and throws an Error for people when a newer version has written it; else its mark. */
const markOf = (database: DatabaseSync, file: string): Mark => {
  const format = Number(database.prepare('PRAGMA user_version').get()?.['user_version'])
  const release = Number(database.prepare('PRAGMA application_id').get()?.['application_id'])
  const refusal = formatProblem(basename(file), format, release)
  if (refusal === null) return { format, release }
  database.close()
  throw new Error(refusal)
}

/** The one connection that writes a file, in WAL mode; throws where a newer version has written it. */
export const openForWriting = (file: string, { synchronous, secureDelete = false }: WriterOptions): DatabaseSync => {
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS })
  const { format, release } = markOf(database, file)
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = ${synchronous};
    PRAGMA secure_delete = ${secureDelete ? 'ON' : 'OFF'};
    PRAGMA journal_size_limit = ${JOURNAL_BYTES};
    PRAGMA cache_size = -${CACHE_KIB};
    PRAGMA trusted_schema = OFF;
  `)
  if (release < RELEASE) database.exec(`PRAGMA application_id = ${RELEASE}`)
  if (format < FORMAT) database.exec(`PRAGMA user_version = ${FORMAT}`)
  return database
}

/** A connection for reads beside the writer; each statement sees all that was committed before it. Throws as the other does. */
export const openForReading = (file: string): DatabaseSync => {
  const database = new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT_MS })
  markOf(database, file)
  return database
}

/** All of `run` or nothing. */
export const transaction = <A>(database: DatabaseSync, run: () => A): A => {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = run()
    database.exec('COMMIT')
    return result
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

const sqliteCode = (error: unknown): number | undefined =>
  error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR' && 'errcode' in error && typeof error.errcode === 'number'
    ? error.errcode & 0xff
    : undefined

/** An error of SQLite itself: disk full, locked, unreadable, closed. Everything else is a defect of ours. */
export const isSqliteError = (error: unknown): error is Error => {
  const code = sqliteCode(error)
  if (code !== undefined) return !DEFECTS.includes(code)
  return error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_STATE'
}

export const isCorruption = (error: unknown): error is Error => {
  const code = sqliteCode(error)
  return code === CORRUPT || code === NOT_A_DATABASE
}

/** Another connection holds the lock. */
export const isBusy = (error: unknown): boolean => sqliteCode(error) === BUSY
