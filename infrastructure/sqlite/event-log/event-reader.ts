import type { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import {
  BEGINNING, type EventStore, type LogCorrupted, type Position, type Revision, type StoredEvent, type StoreUnavailable,
} from '../../../application/ports/event-store.ts'
import { createBacklogReader } from './backlog-reader.ts'
import { openForReading } from '../database.ts'
import { EVENT_COLUMNS, eventOf, toPosition, verified, type EventRow } from './event-row.ts'
import { createLogClock } from '../log-clock.ts'
import { readFailure } from '../read-failure.ts'
import { createSubscriptions } from './subscriptions.ts'

const READ_BATCH = 500

/** Greater than every revision. */
const END = Number.MAX_SAFE_INTEGER

const unavailable = (reason: string): StoreUnavailable => ({ _tag: 'StoreUnavailable', reason })

type StreamRow = EventRow & { readonly first: Revision; readonly maxAgeMs: number | null }

const streamReader = (database: DatabaseSync) => {
  const select = (direction: 'ASC' | 'DESC') =>
    database.prepare(`
      SELECT ${EVENT_COLUMNS}, s.first, s.max_age_ms AS maxAgeMs FROM streams s JOIN events e ON e.sid = s.sid
      WHERE s.name = :stream AND e.rev BETWEEN max(:low, s.first) AND :high
        AND (s.max_age_ms IS NULL OR e.at >= :now - s.max_age_ms)
      ORDER BY e.rev ${direction} LIMIT :limit`)
  const statements = { forwards: select('ASC'), backwards: select('DESC') }
  return (
    direction: 'forwards' | 'backwards',
    stream: string,
    low: Revision,
    high: Revision,
    limit: number,
    now: number,
  ): ReadonlyArray<StreamRow> =>
    statements[direction].all({ stream, low, high, limit, now }) as unknown as ReadonlyArray<StreamRow>
}

/** Converts rows into events. Left: the first row that is damaged or does not follow the previous row. */
const decode = (rows: ReadonlyArray<StreamRow>, step: 1 | -1): E.Either<LogCorrupted, ReadonlyArray<StoredEvent>> => {
  const events: StoredEvent[] = []
  for (const [index, row] of rows.entries()) {
    const intact = verified(row)
    const before = rows[index - 1]
    if (intact === undefined || (before !== undefined && row.rev !== before.rev + step)) {
      const reason = `revision ${row.rev} of ${row.stream}, position ${row.pos}, is damaged`
      return E.left({ _tag: 'LogCorrupted', reason })
    }
    events.push(eventOf(intact))
  }
  return E.right(events)
}

type EventReader = Pick<EventStore, 'read' | 'subscribe' | 'head' | 'now' | 'close'>

interface EventReaderOptions {
  readonly file: string
  /** Functions that the writer calls after each commit. Without a writer, subscriptions do not see later events. */
  readonly wakers?: Set<() => void>
  /** The clock of the writer. Without a writer, the reader has its own. */
  readonly now?: () => number
}

/** Opens the event log for reading, also next to the process that writes it. */
export const openSqliteEventReader = (options: EventReaderOptions): EventReader => {
  const { file, wakers = new Set() } = options
  const database = openForReading(file)
  const { now = createLogClock(database) } = options
  const readRows = streamReader(database)
  const selectHead = database.prepare('SELECT max(pos) AS pos FROM events')
  const headNumber = (): number => (selectHead.get() as { readonly pos: number | null }).pos ?? 0
  const head = (): Position => (headNumber() === 0 ? BEGINNING : toPosition(headNumber()))
  const subscriptions = createSubscriptions({ database, wakers, headNumber, now, backlog: createBacklogReader(file) })

  const read: EventStore['read'] = async (stream, { from, direction = 'forwards', limit = END } = {}) => {
    const events: StoredEvent[] = []
    const step = direction === 'forwards' ? 1 : -1
    let next = from ?? (direction === 'forwards' ? 0 : END)
    try {
      while (events.length < limit) {
        const wanted = Math.min(READ_BATCH, limit - events.length)
        const [low, high] = step === 1 ? [next, END] : [0, next]
        const rows = readRows(direction, stream, low, high, wanted, now())
        const decoded = decode(rows, step)
        if (E.isLeft(decoded)) return decoded
        events.push(...decoded.right)
        // SQLite is synchronous, so reading stream after stream would starve the sockets without this pause.
        await setImmediate()
        const last = rows.at(-1)
        if (last === undefined || rows.length < wanted) break
        next = last.rev + step
      }
    } catch (error) {
      return E.left(readFailure(error))
    }
    return E.right(events)
  }

  return {
    read,
    subscribe: subscriptions.subscribe,
    now,
    head: async () => {
      try {
        return E.right(head())
      } catch (error) {
        return E.left(unavailable(readFailure(error).reason))
      }
    },
    close: async () => {
      await subscriptions.close()
      if (database.isOpen) database.close()
    },
  }
}
