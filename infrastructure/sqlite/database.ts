import { basename } from 'node:path'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { FORMAT, RELEASE, formatProblem } from '../store-rules/format.ts'

export const BUSY_TIMEOUT_MS = 2000
/**
 * Size of the page cache. It is small, because a commit after a page split visits every page in the cache
 * (pcache1TruncateUnsafe). With 64 MiB this took a sixth of a busy writer's time.
 */
const CACHE_KIB = 8192
/** A write-ahead file that grew during a long read is truncated to this size. */
const JOURNAL_BYTES = 16 * 1024 * 1024

// Result codes of SQLite: https://www.sqlite.org/rescode.html
/** Defects of our code: invalid SQL, a violated constraint, a wrong type, misuse of the interface. */
const DEFECTS: ReadonlyArray<number | undefined> = [1, 19, 20, 21, 25]
const BUSY = 5
const CORRUPT = 11
const NOT_A_DATABASE = 26

export interface WriterOptions {
  /** FULL: commits survive a power cut. NORMAL: they survive kill -9, which suffices for data that can be rebuilt. */
  readonly synchronous: 'FULL' | 'NORMAL'
  /** Whether deleted data is overwritten. */
  readonly secureDelete?: boolean
}

interface Mark {
  /** `user_version`; 0: no mark. */
  readonly format: number
  /** `application_id`: the newest version that has written the file; 0: unknown. */
  readonly release: number
}

/** Returns the mark. Closes the file and throws an Error for users when a newer version has written it. */
const markOf = (database: DatabaseSync, file: string): Mark => {
  const format = Number(database.prepare('PRAGMA user_version').get()?.['user_version'])
  const release = Number(database.prepare('PRAGMA application_id').get()?.['application_id'])
  const problem = formatProblem(basename(file), format, release)
  if (problem === null) return { format, release }
  database.close()
  throw new Error(problem)
}

/** Opens the only writing connection of a file, in WAL mode. Throws when a newer version has written the file. */
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

/**
 * Opens a reading connection, which works next to the writer. Each statement sees all earlier commits. Throws when a
 * newer version has written the file.
 */
export const openForReading = (file: string): DatabaseSync => {
  const database = new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT_MS })
  markOf(database, file)
  return database
}

/**
 * Opens a file that a restore replaces, whatever version has written it, and moves the content of its write-ahead file
 * into it. Throws when SQLite cannot read the file.
 */
export const openReplaced = (file: string): DatabaseSync => {
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS })
  database.exec('PRAGMA secure_delete = ON; PRAGMA trusted_schema = OFF; PRAGMA wal_checkpoint(TRUNCATE)')
  return database
}

/** Runs `run` in a transaction, which is rolled back when `run` throws. */
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

const PAGE_ROWS = 1000

/**
 * Yields the rows of a query in pages. A page is one statement, so no read lasts long: a long read would keep the
 * write-ahead file from being truncated. `sql` ends with a condition `column > ?`; the pages begin after `first`.
 */
export function* rowsInPages(
  database: DatabaseSync, sql: string, column: string, first: string | number,
): Generator<Readonly<Record<string, SQLOutputValue>>> {
  const select = database.prepare(`${sql} ORDER BY ${column} LIMIT ${PAGE_ROWS}`)
  let page = select.all(first)
  for (;;) {
    yield* page
    const last = page.length < PAGE_ROWS ? undefined : page.at(-1)?.[column]
    if (last === undefined) return
    page = select.all(last)
  }
}

const sqliteCode = (error: unknown): number | undefined => {
  if (!(error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR')) return undefined
  return 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : undefined
}

/** Whether SQLite failed, for example because the disk is full or the file is locked, unreadable or closed. */
export const isSqliteError = (error: unknown): error is Error => {
  const code = sqliteCode(error)
  if (code !== undefined) return !DEFECTS.includes(code)
  return error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_STATE'
}

export const isCorruption = (error: unknown): error is Error => {
  const code = sqliteCode(error)
  return code === CORRUPT || code === NOT_A_DATABASE
}

/** Whether another connection holds the lock. */
export const isBusy = (error: unknown): boolean => sqliteCode(error) === BUSY
