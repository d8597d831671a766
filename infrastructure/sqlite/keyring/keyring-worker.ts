import { workerData } from 'node:worker_threads'
import { BUSY_TIMEOUT_MS, isSqliteError, openForWriting } from '../database.ts'
import { serveGroupCommit } from '../group-commit.ts'

export type KeyringJob =
  /** Stores `wrapped` unless the key exists or was erased. */
  | { readonly kind: 'ensure'; readonly name: string; readonly wrapped: Uint8Array }
  | { readonly kind: 'erase'; readonly names: ReadonlyArray<string> }

/** The stored wrapped key; null: the key was erased. */
export type KeyringAnswer = { readonly wrapped: Uint8Array | null }

/** Time until another attempt to truncate the write-ahead log. */
const TRUNCATION_RETRY_MS = 100

const { file } = workerData as { readonly file: string }
const database = openForWriting(file, { synchronous: 'FULL', secureDelete: true })
database.exec(`
  CREATE TABLE IF NOT EXISTS keys(name TEXT PRIMARY KEY, wrapped BLOB NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS erased(name TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT;
`)

const isErased = database.prepare('SELECT 1 FROM erased WHERE name = ?')
const findKey = database.prepare('SELECT wrapped FROM keys WHERE name = ?')
const addKey = database.prepare('INSERT INTO keys(name, wrapped) VALUES (?, ?) ON CONFLICT DO NOTHING')
const removeKey = database.prepare('DELETE FROM keys WHERE name = ?')
const recordErasure = database.prepare('INSERT INTO erased(name, at) VALUES (?, ?) ON CONFLICT DO NOTHING')

const apply = (job: KeyringJob): KeyringAnswer => {
  switch (job.kind) {
    case 'ensure':
      if (isErased.get(job.name) !== undefined) return { wrapped: null }
      addKey.run(job.name, job.wrapped)
      return findKey.get(job.name) as unknown as KeyringAnswer
    case 'erase':
      for (const name of job.names) {
        removeKey.run(name)
        recordErasure.run(name, Date.now())
      }
      return { wrapped: null }
  }
}

/**
 * Creates the removal of the write-ahead file, whose older pages still contain erased keys. The erased key is already
 * gone for every reader. SQLite cannot truncate the file while another connection reads an older state. An erasure does
 * not wait for that: the truncation is tried again until it succeeds, at the latest by the next start.
 */
const createTruncation = () => {
  const truncateWal = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)')
  let timer: NodeJS.Timeout | undefined
  /** Without a timeout, because the worker must not wait for a reader. */
  const isTruncated = (): boolean => {
    database.exec('PRAGMA busy_timeout = 0')
    try {
      return (truncateWal.get() as { readonly busy: number }).busy === 0
    } catch (error) {
      if (isSqliteError(error)) return false
      throw error
    } finally {
      database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    }
  }
  const stop = (): void => clearTimeout(timer)
  const run = (): void => {
    stop()
    if (!isTruncated()) timer = setTimeout(run, TRUNCATION_RETRY_MS)
  }
  return { run, stop }
}

const truncation = createTruncation()
// The process may have died before it could truncate the log.
truncation.run()

const committed = (jobs: ReadonlyArray<KeyringJob>): void => {
  if (jobs.some(({ kind }) => kind === 'erase')) truncation.run()
}

serveGroupCommit<KeyringJob, KeyringAnswer>({ database, apply, committed, closing: truncation.stop })
