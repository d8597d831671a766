import { setImmediate } from 'node:timers/promises'
import type { StoredEvent } from '../../../application/ports/event-store.ts'
import { openReplaced } from '../database.ts'
import { EVENT_COLUMNS, eventOf, type EventRow, isIntact, verified } from './event-row.ts'

const BATCH = 1000

/** Returns the hash of the first row, which copies of one log share. Null: the log is empty. */
export const firstHash = (file: string): string | null => {
  const database = openReplaced(file)
  try {
    const row = database.prepare('SELECT hex(hash) AS hash FROM events WHERE pos = 1').get()
    return row === undefined ? null : String(row['hash'])
  } finally {
    database.close()
  }
}

/**
 * Yields the events of a log that no process has open, in their order, whatever version has written it; for a damaged
 * row, its description. Rows whose content was dropped are skipped. Throws when SQLite cannot read the file.
 */
export async function* readReplacedLog(file: string): AsyncGenerator<StoredEvent | string> {
  const database = openReplaced(file)
  try {
    const select = database.prepare(`
      SELECT ${EVENT_COLUMNS} FROM events e JOIN streams s ON s.sid = e.sid
      WHERE e.pos > ? ORDER BY e.pos LIMIT ${BATCH}
    `)
    for (let pos = 0; ; ) {
      const rows = select.all(pos) as unknown as ReadonlyArray<EventRow>
      for (const row of rows) {
        if (row.pos !== pos + 1) yield `rows are missing after position ${pos}`
        pos = row.pos
        const intact = verified(row)
        if (intact !== undefined) yield eventOf(intact)
        else if (!isIntact(row)) yield `position ${row.pos} (${row.stream}) is damaged`
      }
      await setImmediate()
      if (rows.length === BATCH) continue
      const written = database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'events'").get()?.['seq'] ?? 0
      if (written !== pos) yield `rows are missing after position ${pos}`
      return
    }
  } finally {
    database.close()
  }
}
