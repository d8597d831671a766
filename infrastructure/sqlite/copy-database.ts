import { writeFile } from 'node:fs/promises'
import { sync } from '../files/sync.ts'
import { openForReading, openForWriting, transaction } from './database.ts'

/**
 * Copies a consistent snapshot of a database while another process may write it. The copy has no write-ahead file and
 * contains no remains of deleted rows. It is durable when this resolves. The target must not exist.
 * Nobody except its owner can read it at any time.
 */
export const copyDatabase = async (file: string, target: string): Promise<void> => {
  // SQLite accepts an empty file, and keeps its mode.
  await writeFile(target, '', { mode: 0o600, flag: 'wx' })
  const database = openForReading(file)
  try {
    database.prepare('VACUUM INTO ?').run(target)
  } finally {
    database.close()
  }
  await sync(target, 'r+')
}

/** Erases keys from a keyring that no process has open. Returns how many of the keys existed. */
export const eraseKeys = (file: string, names: ReadonlyArray<string>): number => {
  const database = openForWriting(file, { synchronous: 'FULL', secureDelete: true })
  try {
    return transaction(database, () => {
      const recordErasure = database.prepare('INSERT INTO erased(name, at) VALUES (?, ?) ON CONFLICT DO NOTHING')
      const remove = database.prepare('DELETE FROM keys WHERE name = ?')
      let removed = 0
      for (const name of names) {
        recordErasure.run(name, Date.now())
        removed += Number(remove.run(name).changes)
      }
      return removed
    })
  } finally {
    database.close()
  }
}
