import { setImmediate } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import type { StreamIntegrity, VerifyStream } from '../../../application/ports/integrity.ts'
import { isCorruption, isSqliteError, openForReading } from '../database.ts'
import { EVENT_COLUMNS, GENESIS, isIntact } from './event-row.ts'
import type { EventRow } from './event-row.ts'
import { isDamagedStream } from './stream-digest.ts'

const BATCH = 500

/** A row, the hash of the row before it in the log, and what the row behind it says that it follows. */
interface LinkedRow extends EventRow {
  readonly before: string | null
  readonly behind: string | null
}

const SELECT = `
  SELECT ${EVENT_COLUMNS}, lower(hex(b.hash)) AS before,
    CASE WHEN n.pos IS NULL THEN NULL ELSE lower(hex(n.prev)) END AS behind
  FROM streams s JOIN events e ON e.sid = s.sid
    LEFT JOIN events b ON b.pos = e.pos - 1 LEFT JOIN events n ON n.pos = e.pos + 1
  WHERE s.name = ? AND e.rev >= ? ORDER BY e.rev LIMIT ${BATCH}
`

const reasonAgainst = (row: LinkedRow): string | null => {
  if (!isIntact(row)) return 'its content does not match its hash'
  if (row.prev !== (row.pos === 1 ? GENESIS.toString('hex') : row.before)) return 'it does not follow the row before it'
  return row.behind === null || row.behind === row.hash ? null : 'the row behind it does not follow it'
}

const NOTHING = { rows: 0, first: null, last: null, headHash: null }

type Damage = StreamIntegrity['damages'][number]

/** The rows of one stream; damage and careless edits show, as those of a whole log do (`verify-chain.ts`). */
const judge = async (database: ReturnType<typeof openForReading>, stream: string): Promise<StreamIntegrity> => {
  const damages: Array<Damage> = []
  let [rows, next] = [0, 0]
  let first: EventRow | undefined
  let last: EventRow | undefined
  const lostUpTo = (revision: number): void => {
    for (; next < revision; next += 1) damages.push({ revision: next, reason: 'it is missing' })
  }
  for (const select = database.prepare(SELECT); ; await setImmediate()) {
    const page = select.all(stream, next) as unknown as ReadonlyArray<LinkedRow>
    for (const row of page) {
      lostUpTo(row.rev)
      const reason = reasonAgainst(row)
      if (reason !== null) damages.push({ revision: row.rev, reason })
      first ??= row
      last = row
      rows += 1
      next = row.rev + 1
    }
    if (page.length < BATCH) break
  }
  // Of rows cut off the end the stream's own row tells.
  const written = database.prepare('SELECT last FROM streams WHERE name = ?').get(stream)?.['last']
  lostUpTo(Number(written ?? -1) + 1)
  const reason = 'which events are read is not what was written'
  if (isDamagedStream(database, stream)) damages.push({ revision: null, reason })
  return { rows, first: first?.pos ?? null, last: last?.pos ?? null, headHash: last?.hash ?? null, damages }
}

/** Judges streams of an event log, by a connection of its own: beside the writer, which may go on meanwhile. */
export const verifyStream =
  (file: string): VerifyStream =>
  (stream) =>
  async () => {
    const database = openForReading(file)
    try {
      return E.right(await judge(database, stream))
    } catch (error) {
      // The file itself is not what was written.
      if (isCorruption(error)) return E.right({ ...NOTHING, damages: [{ revision: null, reason: error.message }] })
      if (isSqliteError(error)) return E.left({ _tag: 'StoreUnavailable', reason: error.message })
      throw error
    } finally {
      database.close()
    }
  }
