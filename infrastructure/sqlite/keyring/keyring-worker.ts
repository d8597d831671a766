import { workerData } from 'node:worker_threads'
import { openForWriting } from '../database.ts'
import { serveGroupCommit } from '../group-commit.ts'

export type KeyringJob =
  /** Stores `wrapped` unless the key exists or was erased. */
  | { readonly kind: 'ensure'; readonly name: string; readonly wrapped: Uint8Array }
  | { readonly kind: 'erase'; readonly names: ReadonlyArray<string> }

/** The stored wrapped key; null: the key was erased. */
export type KeyringAnswer = { readonly wrapped: Uint8Array | null }

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
const truncateWal = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)')

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

/** Truncates the write-ahead log before an erasure is answered, so no older page with the key remains. */
const committed = (jobs: ReadonlyArray<KeyringJob>): string | undefined => {
  if (!jobs.some(({ kind }) => kind === 'erase')) return undefined
  const { busy } = truncateWal.get() as { readonly busy: number }
  return busy === 0 ? undefined : 'the write-ahead log of the keyring could not be truncated'
}

serveGroupCommit<KeyringJob, KeyringAnswer>({ database, apply, committed })
