import type { KeyRow } from '../keys/verify-keys.ts'
import { isSqliteError, openForReading, rowsInPages } from './database.ts'

/** Returns the problems that SQLite finds in a file: broken pages, indexes that differ from their tables. */
export const verifyFile = (file: string): ReadonlyArray<string> => {
  const database = openForReading(file)
  try {
    const rows = database.prepare('PRAGMA integrity_check(20)').all()
    return rows.map((row) => String(row['integrity_check'])).filter((text) => text !== 'ok')
  } catch (error) {
    if (isSqliteError(error)) return [error.message]
    throw error
  } finally {
    database.close()
  }
}

/** Yields all keys in a keyring's file, including erased keys that wrongly still exist. */
export function* sqliteKeyRows(file: string): Generator<KeyRow> {
  const database = openForReading(file)
  try {
    const select = 'SELECT name, wrapped, name IN (SELECT name FROM erased) AS erased FROM keys WHERE name > ?'
    for (const { name, wrapped, erased } of rowsInPages(database, select, 'name', ''))
      yield { name: String(name), wrapped: wrapped as Uint8Array, isErased: erased !== 0 }
  } finally {
    database.close()
  }
}

/** Yields the names of all keys that a keyring's file lists as erased. */
export function* sqliteErasedNames(file: string): Generator<string> {
  const database = openForReading(file)
  try {
    const select = 'SELECT name FROM erased WHERE name > ?'
    for (const { name } of rowsInPages(database, select, 'name', '')) yield String(name)
  } finally {
    database.close()
  }
}
