import type { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import {
  BEGINNING,
  type EventStore,
  type LogCorrupted,
  type Position,
  type Revision,
  type StoredEvent,
  type StoreUnavailable,
} from '../../application/ports/event-store.ts'
import type { Logger } from '../../application/ports/environment.ts'
import { requireWellFormed } from './append-outcome.ts'
import { openForReading } from './database.ts'
import type { EventLogAnswer, EventLogJob } from './event-log-worker.ts'
import { contentDigests, EVENT_COLUMNS, toPosition, toStoredEvent, type EventRow } from './event-row.ts'
import { readFailure } from './read-failure.ts'
import { createSubscriptions } from './subscriptions.ts'
import { openWriter } from './writer.ts'

const READ_BATCH = 500

/** Above every revision: SQLite compares it like any other integer. */
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
  return (direction: 'forwards' | 'backwards', stream: string, low: Revision, high: Revision, limit: number): ReadonlyArray<StreamRow> =>
    statements[direction].all({ stream, low, high, limit, now: Date.now() }) as unknown as ReadonlyArray<StreamRow>
}

/** The events of rows that follow one another without a gap, or which of them is not what was written. */
const decode = (rows: ReadonlyArray<StreamRow>, step: 1 | -1): E.Either<LogCorrupted, ReadonlyArray<StoredEvent>> => {
  const events: StoredEvent[] = []
  for (const [index, row] of rows.entries()) {
    const event = toStoredEvent(row)
    const before = rows[index - 1]
    if (event === undefined || (before !== undefined && row.rev !== before.rev + step)) {
      return E.left({ _tag: 'LogCorrupted', reason: `revision ${row.rev} of ${row.stream}, position ${row.pos}, is not what was written` })
    }
    events.push(event)
  }
  return E.right(events)
}

/**
 * The embedded event store: one SQLite file, written by one worker thread, read on the calling one. Only one process
 * may have it open (see `acquireDataDirectory`).
 */
export const openSqliteEventStore = async ({ file, logger }: { readonly file: string; readonly logger?: Logger }): Promise<EventStore> => {
  const wakers = new Set<() => void>()
  const writer = await openWriter<EventLogJob, EventLogAnswer>(new URL('./event-log-worker.ts', import.meta.url), { file }, () => {
    for (const wake of wakers) wake()
  })
  const database = openForReading(file)
  const readRows = streamReader(database)
  const selectHead = database.prepare('SELECT max(pos) AS pos FROM events')
  const headNumber = (): number => (selectHead.get() as { readonly pos: number | null }).pos ?? 0
  const head = (): Position => (headNumber() === 0 ? BEGINNING : toPosition(headNumber()))
  const subscriptions = createSubscriptions({ database, wakers, headNumber })

  const submit = async (job: EventLogJob): Promise<E.Either<StoreUnavailable, EventLogAnswer>> => {
    const answer = await writer.submit(job)
    if (E.isRight(answer)) return answer
    logger?.error({ stream: job.stream, reason: answer.left }, 'the event log did not take a write')
    return E.left(unavailable(answer.left))
  }

  const append: EventStore['append'] = (stream, expected, events) => async () => {
    requireWellFormed(events)
    const encoded = events.map(({ id, type, ...event }) => {
      const [data, metadata] = [JSON.stringify(event.data), JSON.stringify(event.metadata)]
      return [id, type, data, metadata, contentDigests(data, metadata)] as const
    })
    const answer = await submit({ kind: 'append', stream, expected, events: encoded })
    if (E.isLeft(answer)) return answer
    switch (answer.right.kind) {
      case 'appended':
        return E.right({ revision: answer.right.revision, position: toPosition(answer.right.pos) })
      case 'wrong-revision':
        return E.left({ _tag: 'WrongRevision', stream, actual: answer.right.actual })
      case 'done':
        throw new Error('the writer answered something else than was asked')
    }
  }

  const read: EventStore['read'] = (stream, { from, direction = 'forwards', limit = END } = {}) => async () => {
    const events: StoredEvent[] = []
    const step = direction === 'forwards' ? 1 : -1
    let next = from ?? (direction === 'forwards' ? 0 : END)
    try {
      while (events.length < limit) {
        const wanted = Math.min(READ_BATCH, limit - events.length)
        const rows = step === 1 ? readRows(direction, stream, next, END, wanted) : readRows(direction, stream, 0, next, wanted)
        const decoded = decode(rows, step)
        if (E.isLeft(decoded)) return decoded
        events.push(...decoded.right)
        // SQLite answers at once: who reads stream after stream must still let sockets have their turn.
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

  const done = async (job: EventLogJob): Promise<E.Either<StoreUnavailable, void>> => {
    const answer = await submit(job)
    return E.isLeft(answer) ? answer : E.right(undefined)
  }

  return {
    append,
    read,
    subscribe: subscriptions.subscribe,
    head: () => async () => {
      try {
        return E.right(head())
      } catch (error) {
        return E.left(unavailable(readFailure(error).reason))
      }
    },
    setMetadata: (stream, { maxCount = null, maxAgeSeconds }) => () =>
      done({ kind: 'set-metadata', stream, maxCount, maxAgeMs: maxAgeSeconds === undefined ? null : maxAgeSeconds * 1000 }),
    deleteStream: (stream) => () => done({ kind: 'delete', stream }),
    close: async () => {
      await writer.close()
      subscriptions.close()
      if (database.isOpen) database.close()
    },
  }
}
