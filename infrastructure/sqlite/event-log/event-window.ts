import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { EVENT_COLUMNS, verified, type EventRow, type VerifiedRow } from './event-row.ts'

/** One window is folded while the next is read. Small windows let one of the two threads wait for the other. */
const MAX_ROWS = 1000
/** Maximum number of rows that one query examines, so a stretch without matches does not block the thread. */
const MAX_EXAMINED = 5000

/** The result of one query of the log. */
export interface EventWindow {
  /** The matching intact rows. */
  readonly rows: ReadonlyArray<VerifiedRow>
  /** The last examined row. */
  readonly reached: number
  /** The first damaged row; `rows` contains all matching rows before it. */
  readonly damaged: { readonly pos: number; readonly stream: string } | null
}

const windowOf = (rows: ReadonlyArray<EventRow>, upTo: number): EventWindow => {
  const reached = rows.length === MAX_ROWS ? (rows.at(-1)?.pos ?? upTo) : upTo
  const intact: Array<VerifiedRow> = []
  for (const row of rows) {
    const verifiedRow = verified(row)
    if (verifiedRow === undefined)
      return { rows: intact, reached: row.pos - 1, damaged: { pos: row.pos, stream: row.stream } }
    intact.push(verifiedRow)
  }
  return { rows: intact, reached, damaged: null }
}

/**
 * Reads and verifies events of streams with one of the prefixes, after row `after` (exclusive) up to row `upTo`. Events
 * that are too old for their stream at the time `now` are left out.
 */
export type ReadWindow = (after: number, upTo: number, prefixes: ReadonlyArray<string>, now: number) => EventWindow

/** Creates a reader of windows, which throws the errors of SQLite. */
export const createWindowReader = (database: DatabaseSync): ReadWindow => {
  /** Statements by number of prefixes; 0: all streams. */
  const statements = new Map<number, StatementSync>()
  const prepared = (count: number): StatementSync => {
    const known = statements.get(count)
    if (known !== undefined) return known
    const matches = Array.from({ length: count }, (_, n) => `substr(s.name, 1, length(:prefix${n})) = :prefix${n}`)
    const statement = database.prepare(`
      SELECT ${EVENT_COLUMNS} FROM events e JOIN streams s ON s.sid = e.sid
      WHERE e.pos > :after AND e.pos <= :upTo AND e.rev >= s.first
        AND (s.max_age_ms IS NULL OR e.at >= :now - s.max_age_ms) ${count === 0 ? '' : `AND (${matches.join(' OR ')})`}
      ORDER BY e.pos LIMIT ${MAX_ROWS}`)
    statements.set(count, statement)
    return statement
  }
  return (after, head, prefixes, now) => {
    const upTo = Math.min(head, after + MAX_EXAMINED)
    const filters = prefixes.includes('') ? [] : prefixes
    const parameters = Object.fromEntries(filters.map((prefix, n) => [`prefix${n}`, prefix]))
    const rows = prepared(filters.length).all({ after, upTo, now, ...parameters })
    return windowOf(rows as unknown as ReadonlyArray<EventRow>, upTo)
  }
}
