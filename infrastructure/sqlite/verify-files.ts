import type { KeyRow } from '../keys/verify-keys.ts'
import { isSqliteError, openForReading } from './database.ts'

/** What SQLite itself says against a file: broken pages, indexes that do not fit their tables. None: it is sound. */
export const verifyFile = (file: string): ReadonlyArray<string> => {
  const database = openForReading(file)
  try {
    const rows = database.prepare('PRAGMA integrity_check(20)').all() as unknown as ReadonlyArray<{ readonly integrity_check: string }>
    return rows.map((row) => row.integrity_check).filter((text) => text !== 'ok')
  } catch (error) {
    if (isSqliteError(error)) return [error.message]
    throw error
  } finally {
    database.close()
  }
}

/** All keys of a keyring's file, erased ones that are still there too. */
export function* sqliteKeyRows(file: string): Generator<KeyRow> {
  const database = openForReading(file)
  try {
    const rows = database.prepare('SELECT name, wrapped, name IN (SELECT name FROM erased) AS erased FROM keys ORDER BY name').iterate()
    for (const { name, wrapped, erased } of rows) yield { name: String(name), wrapped: wrapped as Uint8Array, isErased: erased !== 0 }
  } finally {
    database.close()
  }
}
