import type { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import {
  BEGINNING,
  type EventStore,
  type LogCorrupted,
  type Position,
  type StoreUnavailable,
  type SubscriptionMessage,
} from '../../application/ports/event-store.ts'
import { EVENT_COLUMNS, fromPosition, toPosition, toStoredEvent, type EventRow } from './event-row.ts'
import { readFailure } from './read-failure.ts'

const MAX_BATCH = 500

/** Rows considered by one query, so that a stretch without matches does not hold the thread. */
const WINDOW = 5000

const failure = (cause: StoreUnavailable | LogCorrupted): Error => new Error(`the subscription ended: ${cause.reason}`, { cause })

interface Log {
  readonly database: DatabaseSync
  /** Called after each commit. */
  readonly wakers: Set<() => void>
  /** Number of the newest row. */
  readonly headNumber: () => number
}

/** Pulled subscriptions over the whole log; nothing is read before the consumer asks for it. */
export const createSubscriptions = ({ database, wakers, headNumber }: Log): Pick<EventStore, 'subscribe'> & { readonly close: () => void } => {
  let closed = false
  const select = database.prepare(`
    SELECT ${EVENT_COLUMNS} FROM events e JOIN streams s ON s.sid = e.sid
    WHERE e.pos > :after AND e.pos <= :upTo AND e.rev >= s.first
      AND (s.max_age_ms IS NULL OR e.at >= :now - s.max_age_ms)
      AND EXISTS (SELECT 1 FROM json_each(:prefixes) p WHERE substr(s.name, 1, length(p.value)) = p.value)
    ORDER BY e.pos LIMIT ${MAX_BATCH}`)

  const guarded = <A>(read: () => A): A => {
    if (closed) throw failure({ _tag: 'StoreUnavailable', reason: 'the store is closed' })
    try {
      return read()
    } catch (error) {
      throw failure(readFailure(error))
    }
  }

  const nextCommit = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const wake = (): void => {
        wakers.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      wakers.add(wake)
      signal.addEventListener('abort', wake)
    })

  const toMessage = (row: EventRow): SubscriptionMessage => {
    const event = toStoredEvent(row)
    if (event !== undefined) return { kind: 'event', event }
    throw failure({ _tag: 'LogCorrupted', reason: `position ${row.pos} (${row.stream}) is not what was written` })
  }

  /** Rows after a position up to `head`, at most one window of them, and how far that took the subscription. */
  const readWindow = (after: number, head: number, prefixes: string): { readonly rows: ReadonlyArray<EventRow>; readonly reached: number } => {
    const upTo = Math.min(head, after + WINDOW)
    const rows = guarded(() => select.all({ after, upTo, now: Date.now(), prefixes })) as unknown as ReadonlyArray<EventRow>
    return { rows, reached: rows.length === MAX_BATCH ? (rows.at(-1)?.pos ?? upTo) : upTo }
  }

  const pull = async function* (from: Position, prefixes: string, signal: AbortSignal): AsyncGenerator<SubscriptionMessage, void> {
    let after = fromPosition(from)
    for (;;) {
      const head = guarded(headNumber)
      // Whoever asks has seen more than there is: an older copy of the log was put in its place.
      if (after > head) throw failure({ _tag: 'LogCorrupted', reason: `the log ends at ${head}, before position ${after}` })
      while (after < head) {
        const { rows, reached } = readWindow(after, head, prefixes)
        for (const row of rows) yield toMessage(row)
        if (rows.at(-1)?.pos !== reached) yield { kind: 'checkpoint', position: toPosition(reached) }
        after = reached
        await setImmediate()
      }
      yield { kind: 'caught-up', position: after === 0 ? BEGINNING : toPosition(after) }
      while (!signal.aborted && guarded(headNumber) <= after) await nextCommit(signal)
      if (signal.aborted) return
    }
  }

  const subscribe: EventStore['subscribe'] = async function* (from, prefixes, signal) {
    if (signal.aborted) return
    for await (const message of pull(from, JSON.stringify(prefixes), signal)) {
      if (signal.aborted) return
      yield message
    }
  }

  return {
    subscribe,
    close: () => {
      closed = true
      for (const wake of wakers) wake()
    },
  }
}
