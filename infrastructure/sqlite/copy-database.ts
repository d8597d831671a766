import { chmod } from 'node:fs/promises'
import { sync } from '../files/sync.ts'
import { openForReading, openForWriting, transaction } from './database.ts'

/**
 * A copy of a database as it is at one moment, beside the process that writes it: without its write-ahead file, and
 * without what was deleted but not yet overwritten. Durable once this resolves; the target must not exist.
 */
export const copyDatabase = async (file: string, target: string): Promise<void> => {
  const database = openForReading(file)
  try {
    database.prepare('VACUUM INTO ?').run(target)
  } finally {
    database.close()
  }
  await chmod(target, 0o600)
  await sync(target, 'r+')
}

/** Names of the keys that were erased from a keyring; all of it then lies in the file itself, not beside it. */
export const erasedKeys = (file: string): ReadonlyArray<string> => {
  const database = openForWriting(file, { synchronous: 'FULL', secureDelete: true })
  try {
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    return database.prepare('SELECT name FROM erased').all().map(({ name }) => String(name))
  } finally {
    database.close()
  }
}

/** Erases keys from a keyring that nobody has open; answers how many of them it held. */
export const eraseKeys = (file: string, names: ReadonlyArray<string>): number => {
  const database = openForWriting(file, { synchronous: 'FULL', secureDelete: true })
  try {
    return transaction(database, () => {
      const remember = database.prepare('INSERT INTO erased(name, at) VALUES (?, ?) ON CONFLICT DO NOTHING')
      const remove = database.prepare('DELETE FROM keys WHERE name = ?')
      let held = 0
      for (const name of names) {
        remember.run(name, Date.now())
        held += Number(remove.run(name).changes)
      }
      return held
    })
  } finally {
    database.close()
  }
}
