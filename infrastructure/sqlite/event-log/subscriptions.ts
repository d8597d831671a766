import type { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import {
  BEGINNING, type EventStore, type LogCorrupted, type OlderLog, type StoreUnavailable, type SubscriptionMessage,
} from '../../../application/ports/event-store.ts'
import type { BacklogReader } from './backlog-reader.ts'
import { eventOf, fromPosition, toPosition } from './event-row.ts'
import { createWindowReader, type EventWindow } from './event-window.ts'
import { readFailure } from '../read-failure.ts'

/** More rows than this are read by another thread. */
const BACKLOG_ROWS = 5000
/** Up to this number of new rows are read once for all waiting subscriptions. */
const NEWEST_ROWS = 100

const failure = (cause: StoreUnavailable | LogCorrupted | OlderLog): Error =>
  new Error(`the subscription ended: ${cause.reason}`, { cause })

const damage = ({ pos, stream }: NonNullable<EventWindow['damaged']>): Error =>
  failure({
    _tag: 'LogCorrupted', reason: `position ${pos} (${stream}) is damaged`, row: { position: toPosition(pos), stream },
  })

interface Log {
  readonly database: DatabaseSync
  /** Functions that the writer calls after each commit. */
  readonly wakers: Set<() => void>
  /** Returns the number of the newest row. */
  readonly headNumber: () => number
  /** The clock of the log. */
  readonly now: () => number
  /** Closed with the subscriptions. */
  readonly backlog: BacklogReader
}

/** Creates subscriptions to the log. They read only when the consumer pulls. */
export const createSubscriptions = (
  { database, wakers, headNumber, now, backlog }: Log,
): Pick<EventStore, 'subscribe' | 'close'> => {
  let closed = false
  const readWindow = createWindowReader(database)
  /** The newest rows, for all subscriptions that a commit wakes. Cleared after this turn and at the next commit. */
  let newest: { readonly head: number; readonly windows: Map<string, EventWindow> } | null = null
  const clearNewest = (): void => {
    newest = null
  }
  wakers.add(clearNewest)

  const guarded = <A>(read: () => A): A => {
    if (closed) throw failure({ _tag: 'StoreUnavailable', reason: 'the store is closed' })
    try {
      return read()
    } catch (error) {
      throw failure(readFailure(error))
    }
  }

  const newestNow = (): NonNullable<typeof newest> => {
    if (newest !== null) return newest
    newest = { head: guarded(headNumber), windows: new Map() }
    void setImmediate().then(clearNewest)
    return newest
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

  /** Filters the shared newest rows. If one of them is damaged, each subscription reads its own rows. */
  const newestWindow = (after: number, head: number, prefixes: ReadonlyArray<string>): EventWindow => {
    const { windows } = newestNow()
    const all = windows.get(`${after} ${head}`) ?? guarded(() => readWindow(after, head, [''], now()))
    windows.set(`${after} ${head}`, all)
    if (all.damaged !== null) return guarded(() => readWindow(after, head, prefixes, now()))
    return { ...all, rows: all.rows.filter(([, stream]) => prefixes.some((prefix) => stream.startsWith(prefix))) }
  }

  /** Returns a function that reads window after window. For a long backlog the other thread reads one window ahead. */
  const createNextWindow = (prefixes: ReadonlyArray<string>) => {
    let ahead: { readonly after: number; readonly window: Promise<EventWindow | null> } | null = null
    const readAhead = (after: number, head: number): void => {
      ahead = head - after > BACKLOG_ROWS ? { after, window: backlog.read(after, head, prefixes, now()) } : null
    }
    const readHere = (after: number, head: number): EventWindow =>
      head - after > NEWEST_ROWS
        ? guarded(() => readWindow(after, head, prefixes, now()))
        : newestWindow(after, head, prefixes)
    return async (after: number, head: number): Promise<EventWindow> => {
      if (ahead?.after !== after) readAhead(after, head)
      const window = (await ahead?.window) ?? readHere(after, head)
      readAhead(window.reached, window.damaged === null ? head : 0)
      return window
    }
  }

  const subscribe: EventStore['subscribe'] = async function* (
    from,
    prefixes,
    signal,
  ): AsyncGenerator<SubscriptionMessage, void> {
    const nextWindow = createNextWindow(prefixes)
    let after = fromPosition(from)
    while (!signal.aborted) {
      const { head } = newestNow()
      // The consumer has seen later events, so somebody has restored an older copy of the log.
      if (after > head) throw failure({ _tag: 'OlderLog', reason: `the log ends at ${head}, before position ${after}` })
      while (after < head) {
        const { rows, reached, damaged } = await nextWindow(after, head)
        for (const row of rows) {
          if (signal.aborted) return
          yield { kind: 'event', event: eventOf(row) }
        }
        if (damaged !== null) throw damage(damaged)
        if (signal.aborted) return
        if (rows.at(-1)?.[0] !== reached) yield { kind: 'checkpoint', position: toPosition(reached) }
        after = reached
        await setImmediate()
        if (signal.aborted) return
      }
      yield { kind: 'caught-up', position: after === 0 ? BEGINNING : toPosition(after) }
      while (!signal.aborted && newestNow().head <= after) await nextCommit(signal)
    }
  }

  return {
    subscribe,
    close: async () => {
      closed = true
      for (const wake of wakers) wake()
      await backlog.close()
    },
  }
}
