import { openForReading } from './database.ts'

/** Tables that SQLite itself creates. */
const OF_SQLITE = /^sqlite_/

/**
 * Returns what the service did not create in a file: triggers, views, tables and unique indexes. Each of them can
 * change or refuse what the service writes. Other indexes do no harm, so they are left out.
 */
export const foreignObjects = (file: string, ownTables: RegExp): ReadonlyArray<string> => {
  const database = openForReading(file)
  try {
    return database
      .prepare('SELECT type, name, sql FROM sqlite_master ORDER BY type, name')
      .all()
      .filter(({ type, name, sql }) => {
        if (type === 'index') return /^CREATE UNIQUE/i.test(String(sql))
        return type !== 'table' || !(OF_SQLITE.test(String(name)) || ownTables.test(String(name)))
      })
      .map(({ type, name }) => `${String(type)} ${String(name)}`)
  } finally {
    database.close()
  }
}
