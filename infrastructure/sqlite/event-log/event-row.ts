import { hash } from 'node:crypto'
import type { EventMetadata, Position, StoredEvent } from '../../../application/ports/event-store.ts'

/** Schema of the log: rows are never deleted, so positions and the revisions of a stream have no gaps. */
export const EVENT_LOG_SCHEMA = `
  CREATE TABLE IF NOT EXISTS streams(
    sid INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    last INTEGER NOT NULL DEFAULT -1,      -- last revision
    first INTEGER NOT NULL DEFAULT 0,      -- first revision still read
    base INTEGER NOT NULL DEFAULT 0,       -- first revision after the last deletion
    purged INTEGER NOT NULL DEFAULT 0,     -- rows below this revision hold digests only
    max_count INTEGER,
    max_age_ms INTEGER,
    oldest_at INTEGER,                     -- time of the first event still read, where max_age_ms is set
    digest BLOB NOT NULL DEFAULT x''       -- of all columns of this row but last
  ) STRICT;
  CREATE INDEX IF NOT EXISTS streams_to_purge ON streams(sid) WHERE purged < first;
  CREATE INDEX IF NOT EXISTS streams_to_expire ON streams(oldest_at + max_age_ms)
    WHERE oldest_at + max_age_ms IS NOT NULL;
  CREATE TABLE IF NOT EXISTS events(
    pos INTEGER PRIMARY KEY AUTOINCREMENT,
    sid INTEGER NOT NULL,
    rev INTEGER NOT NULL,
    type TEXT NOT NULL,
    id TEXT NOT NULL,
    at INTEGER NOT NULL,                   -- milliseconds since 1970, never less than the row before
    data TEXT,
    metadata TEXT,
    digests BLOB,                          -- of data and metadata, once these are purged
    prev BLOB NOT NULL,                    -- hash of the row before
    hash BLOB NOT NULL,
    UNIQUE(sid, rev)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS coverage(
    since INTEGER NOT NULL                 -- last row when streams got their digests; 0 from the start
  ) STRICT;
`

/** The columns of an EventRow. Hashes are selected as text, because node:sqlite returns text faster than BLOBs. */
export const EVENT_COLUMNS =
  'e.pos, s.name AS stream, e.rev, e.type, e.id, e.at, e.data, e.metadata, hex(e.digests) AS digests, '
  + 'lower(hex(e.prev)) AS prev, lower(hex(e.hash)) AS hash'

export interface EventRow {
  readonly pos: number
  readonly stream: string
  readonly rev: number
  readonly type: string
  readonly id: string
  readonly at: number
  readonly data: string | null
  readonly metadata: string | null
  /** Digests of a purged row in hexadecimal; empty while the row has data and metadata. */
  readonly digests: string
  /** Hash of the previous row, in lower-case hexadecimal like `hash`. */
  readonly prev: string
  readonly hash: string
}

/** The previous hash of the first row of a log. */
export const GENESIS = Buffer.alloc(32)

/** The 32 bytes of a SHA-256 as text, one character each: cheaper than a Buffer to create and to pass to a thread. */
const sha256 = (content: string | Uint8Array): string => hash('sha256', content, 'binary')

/** The SHA-256 of data and of metadata: 64 bytes as text, one character each. A purged row keeps only these. */
export const contentDigests = (data: string, metadata: string): string => sha256(data) + sha256(metadata)

/** Converts text with one character for each byte into bytes. */
export const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1')

/** A shared buffer for the hash input, because a new buffer for each row costs a fourth of the hash time. */
let scratch = Buffer.allocUnsafe(1024)

type Place = Pick<EventRow, 'pos' | 'stream' | 'rev' | 'type' | 'id' | 'at'>

/** Returns the hash input: previous hash, place and type of the row, content digests. Valid until the next call. */
const hashInput = (row: Place, prev: Uint8Array | string, digests: string): Uint8Array => {
  const place = JSON.stringify([row.pos, row.stream, row.rev, row.type, row.id, row.at])
  const prevLength = typeof prev === 'string' ? prev.length / 2 : prev.length
  const needed = prevLength + Buffer.byteLength(place) + digests.length
  if (scratch.length < needed) scratch = Buffer.allocUnsafe(2 * needed)
  if (typeof prev === 'string') scratch.write(prev, 'hex')
  else scratch.set(prev)
  const digestsAt = prevLength + scratch.write(place, prevLength)
  scratch.write(digests, digestsAt, 'latin1')
  return scratch.subarray(0, needed)
}

/** Returns the SHA-256 over the previous hash (bytes or hexadecimal), place and type of the row and content digests. */
export const rowHash = (row: Place & { readonly prev: Uint8Array | string }, digests: string): Buffer =>
  bytesOf(sha256(hashInput(row, row.prev, digests)))

/** Whether the row matches its hash. A purged row is verified with its digests. */
export const isIntact = (row: EventRow): boolean => {
  const kept = row.digests === '' ? null : Buffer.from(row.digests, 'hex').toString('latin1')
  const digests = row.data === null || row.metadata === null ? kept : contentDigests(row.data, row.metadata)
  return digests !== null && hash('sha256', hashInput(row, row.prev, digests), 'hex') === row.hash
}

/** Formats a row number with leading zeros, so positions sort in log order. */
export const toPosition = (pos: number): Position => String(pos).padStart(20, '0') as Position

/** Parses a position. Throws a TypeError when it belongs to another kind of store. */
export const fromPosition = (position: Position): number => {
  if (position !== '' && !/^\d{20}$/.test(position)) throw new TypeError(`"${position}" is not a position of this log`)
  return Number(position)
}

/** An intact row. A tuple with unparsed JSON is cheaper to pass to another thread than an object. */
export type VerifiedRow = readonly [
  pos: number, stream: string, revision: number, type: string, id: string, at: number, data: string, metadata: string,
]

/** Returns the row; undefined for a damaged or purged row. */
export const verified = (row: EventRow): VerifiedRow | undefined =>
  row.data === null || row.metadata === null || !isIntact(row)
    ? undefined
    : [row.pos, row.stream, row.rev, row.type, row.id, row.at, row.data, row.metadata]

export const eventOf = ([pos, stream, revision, type, id, storedAt, data, metadata]: VerifiedRow): StoredEvent => ({
  id,
  type,
  data: JSON.parse(data) as Readonly<Record<string, unknown>>,
  metadata: JSON.parse(metadata) as EventMetadata,
  stream,
  revision,
  position: toPosition(pos),
  storedAt,
})
