import type { Guard } from '../../store-rules/guard.ts'
import { openForReading, rowsInPages } from '../database.ts'
import { tableOf } from './documents-schema.ts'

/** Yields the guards of all documents of these collections, also of removed documents, and of all checkpoints. */
export function* sqliteGuards(file: string, collections: ReadonlyArray<string>): Generator<Guard> {
  const database = openForReading(file)
  try {
    const hasTable = database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?")
    for (const collection of collections) {
      const table = tableOf(collection)
      // The service creates a collection at its start.
      if (hasTable.get(table.replaceAll('"', '')) === undefined) continue
      for (const { id, position } of rowsInPages(database, `SELECT id, position FROM ${table} WHERE id > ?`, 'id', ''))
        yield { where: `${collection} ${String(id)}`, position: String(position), token: 0 }
    }
    // Uses `*`, because a file of an earlier version has no tokens.
    for (const { projection, position, token } of database.prepare('SELECT * FROM checkpoints').all())
      yield { where: `checkpoint of ${String(projection)}`, position: String(position), token: Number(token ?? 0) }
  } finally {
    database.close()
  }
}
