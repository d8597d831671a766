import { setImmediate } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import type { StreamIntegrity, VerifyStream } from '../../../application/ports/integrity.ts'
import { isCorruption, isSqliteError, openForReading } from '../database.ts'
import { EVENT_COLUMNS, type EventRow, GENESIS, isIntact } from './event-row.ts'
import { isDamagedStream } from './stream-digest.ts'

const BATCH = 500

/** A row with the hashes of its neighbours. */
interface LinkedRow extends EventRow {
  readonly previousHash: string | null
  /** The hash that the next row stores as its previous hash; null without a next row. */
  readonly expectedHash: string | null
}

const SELECT = `
  SELECT ${EVENT_COLUMNS}, lower(hex(b.hash)) AS previousHash,
    CASE WHEN n.pos IS NULL THEN NULL ELSE lower(hex(n.prev)) END AS expectedHash
  FROM streams s JOIN events e ON e.sid = s.sid
    LEFT JOIN events b ON b.pos = e.pos - 1 LEFT JOIN events n ON n.pos = e.pos + 1
  WHERE s.name = ? AND e.rev >= ? ORDER BY e.rev LIMIT ${BATCH}
`

const problemOf = (row: LinkedRow): string | null => {
  if (!isIntact(row)) return 'its content does not match its hash'
  const previousHash = row.pos === 1 ? GENESIS.toString('hex') : row.previousHash
  if (row.prev !== previousHash) return 'it does not follow the previous row'
  return row.expectedHash === null || row.expectedHash === row.hash ? null : 'the next row does not follow it'
}

const NOTHING = { rows: 0, first: null, last: null, headHash: null }

type Damage = StreamIntegrity['damages'][number]

/** Verifies the rows of one stream with the same checks as `verify-chain.ts`. */
const verifyRows = async (database: ReturnType<typeof openForReading>, stream: string): Promise<StreamIntegrity> => {
  const damages: Array<Damage> = []
  let rows = 0
  let next = 0
  let first: EventRow | undefined
  let last: EventRow | undefined
  const reportMissing = (revision: number): void => {
    for (; next < revision; next += 1) damages.push({ revision: next, reason: 'it is missing' })
  }
  for (const select = database.prepare(SELECT); ; await setImmediate()) {
    const page = select.all(stream, next) as unknown as ReadonlyArray<LinkedRow>
    for (const row of page) {
      reportMissing(row.rev)
      const reason = problemOf(row)
      if (reason !== null) damages.push({ revision: row.rev, reason })
      first ??= row
      last = row
      rows += 1
      next = row.rev + 1
    }
    if (page.length < BATCH) break
  }
  // The row of the stream contains its last revision, which reveals missing rows at the end.
  const written = database.prepare('SELECT last FROM streams WHERE name = ?').get(stream)?.['last']
  reportMissing(Number(written ?? -1) + 1)
  const reason = 'the row of the stream is damaged: reads may return wrong events'
  if (isDamagedStream(database, stream)) damages.push({ revision: null, reason })
  return { rows, first: first?.pos ?? null, last: last?.pos ?? null, headHash: last?.hash ?? null, damages }
}

/** Creates a verifier of single streams. It has its own connection, so it may run next to the writer. */
export const verifyStream =
  (file: string): VerifyStream =>
  async (stream) => {
    const database = openForReading(file)
    try {
      return E.right(await verifyRows(database, stream))
    } catch (error) {
      // SQLite finds the file itself damaged.
      if (isCorruption(error)) return E.right({ ...NOTHING, damages: [{ revision: null, reason: error.message }] })
      if (isSqliteError(error)) return E.left({ _tag: 'StoreUnavailable', reason: error.message })
      throw error
    } finally {
      database.close()
    }
  }
