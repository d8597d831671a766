import type { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import type { Position } from '../../../application/ports/event-store.ts'
import { isCorruption, openForReading, rowsInPages } from '../database.ts'
import { EVENT_COLUMNS, GENESIS, isIntact, toPosition, type EventRow } from './event-row.ts'
import { coverageProblem, digestsSince, damagedStreams } from './stream-digest.ts'

const BATCH = 1000

/** A damaged place of the log. */
export interface ChainBroken {
  readonly _tag: 'ChainBroken'
  readonly position: Position
  readonly reason: string
}

const broken = (pos: number, reason: string): ChainBroken =>
  ({ _tag: 'ChainBroken', position: toPosition(pos), reason })

const problemOf = (row: EventRow, pos: number, prev: string): string | undefined => {
  if (row.pos !== pos) return 'rows are missing here'
  if (!isIntact(row)) return `revision ${row.rev} of ${row.stream} does not match its hash`
  return row.prev === prev ? undefined : 'the row does not follow the previous row'
}

/**
 * Finds damage that the chain cannot reveal: rows missing at the end of the log or of a stream. Each statement reads a
 * consistent snapshot, so concurrent appends do not matter.
 */
const problemAtEnd = (database: DatabaseSync): string | undefined => {
  const { written, last } = database
    .prepare(`
      SELECT (SELECT seq FROM sqlite_sequence WHERE name = 'events') AS written, (SELECT max(pos) FROM events) AS last
    `)
    .get() as { readonly written: number | null; readonly last: number | null }
  if (written !== last) return `${written} rows were written, but the last row is ${last}`
  const select = `
    SELECT sid, name, last + 1 - (SELECT count(*) FROM events e WHERE e.sid = s.sid) AS missing
    FROM streams s WHERE sid > ?
  `
  for (const { name, missing } of rowsInPages(database, select, 'sid', 0))
    if (missing !== 0) return `revisions of ${String(name)} are missing`
  return undefined
}

/**
 * Verifies the hash chain of an event log from the first row to the last, then the rows of the streams. Purged rows are
 * verified with their digests. Yields every damaged place and returns the number of rows. A file that SQLite cannot
 * read ends the walk. `onRows` reports the progress. May run while the service writes the file.
 */
export async function* walkChain(
  file: string,
  onRows: (rows: number) => void = () => undefined,
): AsyncGenerator<ChainBroken, number> {
  const database = openForReading(file)
  let pos = 0
  let prev = GENESIS.toString('hex')
  try {
    const select = database.prepare(`
      SELECT ${EVENT_COLUMNS} FROM events e JOIN streams s ON s.sid = e.sid
      WHERE e.pos > ? ORDER BY e.pos LIMIT ${BATCH}
    `)
    for (;;) {
      const rows = select.all(pos) as unknown as ReadonlyArray<EventRow>
      for (const row of rows) {
        const reason = problemOf(row, pos + 1, prev)
        if (reason !== undefined) yield broken(pos + 1, reason)
        pos = row.pos
        prev = row.hash
      }
      onRows(pos)
      if (rows.length < BATCH) break
      await setImmediate()
    }
    const reason = problemAtEnd(database)
    if (reason !== undefined) yield broken(pos + 1, reason)
    for (const name of damagedStreams(database))
      yield broken(pos + 1, `the row of the stream ${name} is damaged: reads may return wrong events`)
    const coverage = coverageProblem(database)
    if (coverage !== null) yield broken(pos + 1, coverage)
  } catch (error) {
    if (!isCorruption(error)) throw error
    yield broken(pos + 1, error.message)
  } finally {
    database.close()
  }
  return pos
}

/** Verifies an event log and returns its number of rows. Left: the first damaged place. */
export const verifyChain = async (
  file: string,
  onRows?: (rows: number) => void,
): Promise<E.Either<ChainBroken, number>> => {
  const walk = walkChain(file, onRows)
  const first = await walk.next()
  if (first.done === true) return E.right(first.value)
  await walk.return(0)
  return E.left(first.value)
}

/** Returns the row after which edits of streams are detected. Null: none are; the service adds digests at its start. */
export const readCoverage = (file: string): number | null => {
  const database = openForReading(file)
  try {
    return digestsSince(database)
  } finally {
    database.close()
  }
}
