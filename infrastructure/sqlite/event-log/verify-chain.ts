import type { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import type { Position } from '../../../application/ports/event-store.ts'
import { isCorruption, openForReading } from '../database.ts'
import { EVENT_COLUMNS, GENESIS, isIntact, toPosition, type EventRow } from './event-row.ts'
import { coveredSince, damagedStreams } from './stream-digest.ts'

const BATCH = 1000

/** A place at which the log is not what was written. */
export interface ChainBroken {
  readonly _tag: 'ChainBroken'
  readonly position: Position
  readonly reason: string
}

const broken = (pos: number, reason: string): ChainBroken => ({ _tag: 'ChainBroken', position: toPosition(pos), reason })

const reasonAgainst = (row: EventRow, pos: number, prev: string): string | undefined => {
  if (row.pos !== pos) return 'rows are missing here'
  if (!isIntact(row)) return `revision ${row.rev} of ${row.stream} does not match its hash`
  return row.prev === prev ? undefined : 'the row does not follow the one before it'
}

/**
 * What the chain alone cannot tell: rows cut off its end, and streams that have lost one. Each statement sees the log
 * at one moment, so that appends made meanwhile do not matter.
 */
const reasonAgainstEnd = (database: DatabaseSync): string | undefined => {
  const { written, last } = database
    .prepare("SELECT (SELECT seq FROM sqlite_sequence WHERE name = 'events') AS written, (SELECT max(pos) FROM events) AS last")
    .get() as { readonly written: number | null; readonly last: number | null }
  if (written !== last) return `${written} rows were written, the last one left is ${last}`
  const odd = database
    .prepare('SELECT name FROM streams s WHERE last + 1 <> (SELECT count(*) FROM events e WHERE e.sid = s.sid) LIMIT 1')
    .get() as { readonly name: string } | undefined
  return odd && `the revisions of ${odd.name} are not complete`
}

/**
 * Walks the hash chain of an event log from its first row to its last; purged rows count by the digests that they keep.
 * Then looks at the rows of the streams, which say what of them is read.
 * Gives every place that is not what was written, each judged by what is stored before it, then the number of rows. A
 * file that SQLite cannot read ends the walk. `onRows` is told how far it is. Runs beside the service that writes the file.
 */
export async function* walkChain(file: string, onRows: (rows: number) => void = () => undefined): AsyncGenerator<ChainBroken, number> {
  const database = openForReading(file)
  let pos = 0
  let prev = GENESIS.toString('hex')
  try {
    const select = database.prepare(
      `SELECT ${EVENT_COLUMNS} FROM events e JOIN streams s ON s.sid = e.sid WHERE e.pos > ? ORDER BY e.pos LIMIT ${BATCH}`,
    )
    for (;;) {
      const rows = select.all(pos) as unknown as ReadonlyArray<EventRow>
      for (const row of rows) {
        const reason = reasonAgainst(row, pos + 1, prev)
        if (reason !== undefined) yield broken(pos + 1, reason)
        pos = row.pos
        prev = row.hash
      }
      onRows(pos)
      if (rows.length < BATCH) break
      await setImmediate()
    }
    const reason = reasonAgainstEnd(database)
    if (reason !== undefined) yield broken(pos + 1, reason)
    for (const name of damagedStreams(database))
      yield broken(pos + 1, `which events of ${name} are read is not what was written`)
  } catch (error) {
    if (!isCorruption(error)) throw error
    yield broken(pos + 1, error.message)
  } finally {
    database.close()
  }
  return pos
}

/** The number of rows of an event log whose chain is whole, or the first place where it is not. */
export const verifyChain = async (file: string, onRows?: (rows: number) => void): Promise<E.Either<ChainBroken, number>> => {
  const walk = walkChain(file, onRows)
  const first = await walk.next()
  if (first.done === true) return E.right(first.value)
  await walk.return(0)
  return E.left(first.value)
}

/** The position behind which it is covered which events of a stream are read; null: from the next start on. */
export const readCoverage = (file: string): number | null => {
  const database = openForReading(file)
  try {
    return coveredSince(database)
  } finally {
    database.close()
  }
}
