import * as E from 'fp-ts/lib/Either.js'
import type {
  EventStore,
  ExpectedRevision,
  Position,
  Revision,
  StoredEvent,
  StreamMetadata,
  SubscriptionMessage,
} from '../../../../application/ports/event-store.ts'

interface Stream {
  readonly rows: StoredEvent[]
  /** Revision of the first visible event. */
  first: Revision
  /** First revision after the last deletion. */
  base: Revision
  metadata: StreamMetadata
}

const BEGINNING = '' as Position
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

const positionOf = (n: number): Position => String(n).padStart(20, '0') as Position

/** Throws a TypeError when no store can accept the append. */
const checkIds = (ids: ReadonlyArray<string>): void => {
  if (ids.length === 0) throw new TypeError('an append needs at least one event')
  const malformed = ids.find((id) => !UUID.test(id))
  if (malformed !== undefined) throw new TypeError(`event id "${malformed}" is not a UUID`)
}

/** Revisions at which the first event of an earlier attempt may be stored. */
const possibleStarts = (
  { rows, base }: Stream,
  expected: ExpectedRevision,
  count: number,
): ReadonlyArray<Revision> => {
  if (expected === 'any') return [rows.length - count]
  if (expected === 'no-stream') return [0, base]
  return expected < 0 ? [] : [expected + 1]
}

const isExpected = ({ rows, base }: Stream, expected: ExpectedRevision): boolean => {
  if (expected === 'any') return true
  return expected === 'no-stream' ? base >= rows.length : expected >= 0 && expected === rows.length - 1
}

/** Returns the revision of the last event of an earlier attempt with the same ids; undefined: this is the first. */
const lastOfRetry = (
  stream: Stream,
  expected: ExpectedRevision,
  ids: ReadonlyArray<string>,
): Revision | undefined => {
  const start = possibleStarts(stream, expected, ids.length).find(
    (from) => from >= 0 && ids.every((id, index) => stream.rows[from + index]?.id === id),
  )
  return start === undefined ? undefined : start + ids.length - 1
}

/**
 * An event store in memory. It fulfils the contract of the port, but keeps nothing. Each answer takes one turn of the
 * microtask queue. `allEvents` returns the whole log, including truncated events. `now`: the clock of the store.
 */
export const createMemoryEventStore = (
  now: () => number = Date.now,
): EventStore & { readonly allEvents: () => ReadonlyArray<StoredEvent> } => {
  const streams = new Map<string, Stream>()
  const log: StoredEvent[] = []
  const wakers = new Set<() => void>()

  const streamOf = (name: string): Stream => {
    const stream = streams.get(name) ?? { rows: [], first: 0, base: 0, metadata: {} }
    streams.set(name, stream)
    return stream
  }
  const truncate = (stream: Stream): void => {
    const { maxCount } = stream.metadata
    if (maxCount !== undefined) stream.first = Math.max(stream.first, stream.rows.length - maxCount)
  }
  const isVisible = ({ stream, revision, storedAt }: StoredEvent): boolean => {
    const { first, metadata: { maxAgeSeconds = Infinity } } = streamOf(stream)
    return revision >= first && storedAt >= now() - maxAgeSeconds * 1000
  }
  const head = (): Position => log.at(-1)?.position ?? BEGINNING

  const append: EventStore['append'] = async (name, expected, events) => {
    const ids = events.map(({ id }) => id)
    checkIds(ids)
    const stream = streamOf(name)
    const answer = (revision: Revision) =>
      E.right({ revision, position: stream.rows[revision]?.position ?? BEGINNING })

    const stored = lastOfRetry(stream, expected, ids)
    if (stored !== undefined) return answer(stored)
    const last = stream.rows.length - 1
    if (!isExpected(stream, expected)) {
      const actual = last < 0 ? ('no-stream' as const) : last
      return E.left({ _tag: 'WrongRevision' as const, stream: name, actual })
    }
    const rows = events.map((event, index): StoredEvent => ({
      ...(JSON.parse(JSON.stringify(event)) as typeof event),
      stream: name,
      revision: last + 1 + index,
      position: positionOf(log.length + 1 + index),
      storedAt: now(),
    }))
    stream.rows.push(...rows)
    log.push(...rows)
    truncate(stream)
    for (const wake of wakers) wake()
    return answer(stream.rows.length - 1)
  }

  const read: EventStore['read'] = async (name, { from, direction = 'forwards', limit = Infinity } = {}) => {
    const visible = (streams.get(name)?.rows ?? []).filter(isVisible)
    const wanted =
      direction === 'forwards'
        ? visible.filter(({ revision }) => revision >= (from ?? 0))
        : visible.filter(({ revision }) => revision <= (from ?? Infinity)).toReversed()
    return E.right(wanted.slice(0, limit))
  }

  const nextAppend = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const wake = (): void => {
        wakers.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      wakers.add(wake)
      signal.addEventListener('abort', wake)
    })

  /** Sends as few messages as the contract allows: the events, and a `caught-up` message at the end of the log. */
  const subscribe: EventStore['subscribe'] = async function* (
    from,
    prefixes,
    signal,
  ): AsyncGenerator<SubscriptionMessage, void> {
    if (from > head())
      throw new Error('the subscription ended', { cause: { _tag: 'OlderLog', reason: `the log ends before ${from}` } })
    let next = from === BEGINNING ? 0 : Number(from)
    let position = from
    for (;;) {
      for (let row = log[next]; row !== undefined; row = log[next]) {
        next += 1
        if (signal.aborted) return
        if (!prefixes.some((prefix) => row?.stream.startsWith(prefix)) || !isVisible(row)) continue
        position = row.position
        yield { kind: 'event', event: row }
      }
      if (signal.aborted) return
      yield { kind: 'caught-up', position }
      while (next >= log.length) {
        if (signal.aborted) return
        await nextAppend(signal)
      }
    }
  }

  return {
    append,
    read,
    subscribe,
    head: async () => E.right(head()),
    setMetadata: async (name, metadata) => {
      const stream = streamOf(name)
      stream.metadata = metadata
      truncate(stream)
      return E.right(undefined)
    },
    deleteStream: async (name) => {
      const stream = streams.get(name)
      if (stream !== undefined) stream.first = stream.base = stream.rows.length
      return E.right(undefined)
    },
    now,
    close: () => Promise.resolve(),
    allEvents: () => log,
  }
}
