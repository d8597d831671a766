import type { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import {
  BEGINNING,
  type EventStore,
  type LogCorrupted,
  type OlderLog,
  type StoreUnavailable,
  type SubscriptionMessage,
} from '../../../application/ports/event-store.ts'
import type { BacklogReader } from './backlog-reader.ts'
import { eventOf, fromPosition, toPosition } from './event-row.ts'
import { createWindowReader } from './event-window.ts'
import type { EventWindow } from './event-window.ts'
import { readFailure } from '../read-failure.ts'

/** So many rows are worth another thread. */
const BACKLOG = 5000
/** So few are read once for all subscriptions that were waiting for them. */
const NEWEST = 100

const failure = (cause: StoreUnavailable | LogCorrupted | OlderLog): Error => new Error(`the subscription ended: ${cause.reason}`, { cause })

const damage = ({ pos, stream }: NonNullable<EventWindow['damaged']>): Error =>
  failure({ _tag: 'LogCorrupted', reason: `position ${pos} (${stream}) is not what was written`, row: { position: toPosition(pos), stream } })

interface Log {
  readonly database: DatabaseSync
  /** Called after each commit. */
  readonly wakers: Set<() => void>
  /** Number of the newest row. */
  readonly headNumber: () => number
  /** Closed with the subscriptions. */
  readonly backlog: BacklogReader
}

/** Pulled subscriptions over the whole log; nothing is read before the consumer asks for it. */
export const createSubscriptions = ({ database, wakers, headNumber, backlog }: Log): Pick<EventStore, 'subscribe' | 'close'> => {
  let closed = false
  const readWindow = createWindowReader(database)
  /** What the subscriptions that a commit woke ask for, each for itself: good until the next one, and within its turn. */
  let newest: { readonly head: number; readonly windows: Map<string, EventWindow> } | null = null
  const forget = (): void => {
    newest = null
  }
  wakers.add(forget)

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
    void setImmediate().then(forget)
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

  /** The newest rows of all streams, those that a subscription wants of them; each subscription alone where one is damaged. */
  const newestWindow = (after: number, head: number, prefixes: ReadonlyArray<string>): EventWindow => {
    const { windows } = newestNow()
    const all = windows.get(`${after} ${head}`) ?? guarded(() => readWindow(after, head, ['']))
    windows.set(`${after} ${head}`, all)
    if (all.damaged !== null) return guarded(() => readWindow(after, head, prefixes))
    return { ...all, rows: all.rows.filter(([, stream]) => prefixes.some((prefix) => stream.startsWith(prefix))) }
  }

  /** Windows in the order of the log. A long way is read by the other thread, which is one window ahead. */
  const windows = (prefixes: ReadonlyArray<string>) => {
    let ahead: { readonly after: number; readonly window: Promise<EventWindow | null> } | null = null
    const askAhead = (after: number, head: number): void => {
      ahead = head - after > BACKLOG ? { after, window: backlog.read(after, head, prefixes) } : null
    }
    return async (after: number, head: number): Promise<EventWindow> => {
      if (ahead?.after !== after) askAhead(after, head)
      const alone = (): EventWindow => guarded(() => readWindow(after, head, prefixes))
      const window = (await ahead?.window) ?? (head - after > NEWEST ? alone() : newestWindow(after, head, prefixes))
      askAhead(window.reached, window.damaged === null ? head : 0)
      return window
    }
  }

  const subscribe: EventStore['subscribe'] = async function* (from, prefixes, signal): AsyncGenerator<SubscriptionMessage, void> {
    const nextWindow = windows(prefixes)
    let after = fromPosition(from)
    while (!signal.aborted) {
      const { head } = newestNow()
      // Whoever asks has seen more than there is: an older copy of the log was put in its place.
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
