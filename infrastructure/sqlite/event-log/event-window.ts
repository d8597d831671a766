import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { EVENT_COLUMNS, verified, type EventRow, type VerifiedRow } from './event-row.ts'

const MAX_ROWS = 500
/** Rows considered by one query, so that a stretch without matches does not hold the thread. */
const MAX_CONSIDERED = 5000

/** Part of the log, as far as one query goes. */
export interface EventWindow {
  /** What matches, each row being what was once written. */
  readonly rows: ReadonlyArray<VerifiedRow>
  /** Everything up to here was considered. */
  readonly reached: number
  /** Where the first row stands that is not what was written; none before it is left out. */
  readonly damaged: { readonly pos: number; readonly stream: string } | null
}

const windowOf = (rows: ReadonlyArray<EventRow>, upTo: number): EventWindow => {
  const reached = rows.length === MAX_ROWS ? (rows.at(-1)?.pos ?? upTo) : upTo
  const intact: Array<VerifiedRow> = []
  for (const row of rows) {
    const one = verified(row)
    if (one === undefined) return { rows: intact, reached: row.pos - 1, damaged: { pos: row.pos, stream: row.stream } }
    intact.push(one)
  }
  return { rows: intact, reached, damaged: null }
}

/** Reads and verifies the events of streams that begin with one of the prefixes, after a row (exclusive) and up to another. */
export type ReadWindow = (after: number, upTo: number, prefixes: ReadonlyArray<string>) => EventWindow

/** Throws what SQLite does. */
export const createWindowReader = (database: DatabaseSync): ReadWindow => {
  /** By the number of prefixes; of all streams: 0. */
  const statements = new Map<number, StatementSync>()
  const prepared = (count: number): StatementSync => {
    const known = statements.get(count)
    if (known !== undefined) return known
    const named = Array.from({ length: count }, (_, n) => `substr(s.name, 1, length(:prefix${n})) = :prefix${n}`)
    const made = database.prepare(`
      SELECT ${EVENT_COLUMNS} FROM events e JOIN streams s ON s.sid = e.sid
      WHERE e.pos > :after AND e.pos <= :upTo AND e.rev >= s.first
        AND (s.max_age_ms IS NULL OR e.at >= :now - s.max_age_ms) ${count === 0 ? '' : `AND (${named.join(' OR ')})`}
      ORDER BY e.pos LIMIT ${MAX_ROWS}`)
    statements.set(count, made)
    return made
  }
  return (after, head, prefixes) => {
    const upTo = Math.min(head, after + MAX_CONSIDERED)
    const some = prefixes.includes('') ? [] : prefixes
    const names = Object.fromEntries(some.map((prefix, n) => [`prefix${n}`, prefix]))
    const rows = prepared(some.length).all({ after, upTo, now: Date.now(), ...names })
    return windowOf(rows as unknown as ReadonlyArray<EventRow>, upTo)
  }
}
