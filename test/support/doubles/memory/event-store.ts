import * as TE from 'fp-ts/lib/TaskEither.js'
import {
  BEGINNING,
  type EventStore,
  type Position,
  type Revision,
  type StoredEvent,
  type StreamMetadata,
  type SubscriptionMessage,
} from '../../../../application/ports/event-store.ts'
import { outcomeOfAppend, requireWellFormed, type StreamState } from '../../../../infrastructure/stores/append-outcome.ts'

interface Row {
  readonly event: StoredEvent
  readonly at: number
}

interface Stream {
  readonly rows: Row[]
  first: Revision
  base: Revision
  metadata: StreamMetadata
}

const positionOf = (n: number): Position => String(n).padStart(20, '0') as Position

/**
 * The event-store port in memory, for simulations: same contract, nothing durable, one turn of the microtask queue
 * an answer. `allEvents` is the whole log, truncated events included.
 */
export const createMemoryEventStore = (): EventStore & { readonly allEvents: () => ReadonlyArray<StoredEvent> } => {
  const streams = new Map<string, Stream>()
  const log: Row[] = []
  const wakers = new Set<() => void>()

  const streamOf = (name: string): Stream => {
    const known = streams.get(name)
    if (known !== undefined) return known
    const made: Stream = { rows: [], first: 0, base: 0, metadata: {} }
    streams.set(name, made)
    return made
  }
  const truncate = (stream: Stream): void => {
    const { maxCount } = stream.metadata
    if (maxCount !== undefined) stream.first = Math.max(stream.first, stream.rows.length - maxCount)
  }
  const isVisible = ({ event, at }: Row): boolean => {
    const { first, metadata } = streamOf(event.stream)
    const youngEnough = metadata.maxAgeSeconds === undefined || at >= Date.now() - metadata.maxAgeSeconds * 1000
    return event.revision >= first && youngEnough
  }
  const head = (): Position => log.at(-1)?.event.position ?? BEGINNING

  const append: EventStore['append'] = (name, expected, events) => async () => {
    requireWellFormed(events)
    const stream = streamOf(name)
    const last = stream.rows.length - 1
    const state: StreamState = { last, base: stream.base, idAt: (revision: Revision) => stream.rows[revision]?.event.id }
    const outcome = outcomeOfAppend(state, expected, events.map(({ id }) => id))
    if (outcome.kind === 'wrong-revision') {
      return TE.left({ _tag: 'WrongRevision' as const, stream: name, actual: last < 0 ? ('no-stream' as const) : last })()
    }
    if (outcome.kind === 'append') {
      const rows = events.map((event, index): Row => ({
        event: {
          ...(JSON.parse(JSON.stringify(event)) as typeof event),
          stream: name,
          revision: outcome.from + index,
          position: positionOf(log.length + 1 + index),
        },
        at: Date.now(),
      }))
      stream.rows.push(...rows)
      log.push(...rows)
      truncate(stream)
      for (const wake of wakers) wake()
    }
    const revision = outcome.kind === 'stored' ? outcome.last : stream.rows.length - 1
    return TE.right({ revision, position: stream.rows[revision]?.event.position ?? BEGINNING })()
  }

  const read: EventStore['read'] = (name, { from, direction = 'forwards', limit = Infinity } = {}) => async () => {
    const visible = (streams.get(name)?.rows ?? []).filter(isVisible).map(({ event }) => event)
    const wanted =
      direction === 'forwards'
        ? visible.filter(({ revision }) => revision >= (from ?? 0))
        : visible.filter(({ revision }) => revision <= (from ?? Infinity)).toReversed()
    return TE.right(wanted.slice(0, limit))()
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

  /** Says as little as any store: no checkpoints, and at the end the place of what it told last. */
  const subscribe: EventStore['subscribe'] = async function* (from, prefixes, signal): AsyncGenerator<SubscriptionMessage, void> {
    if (from > head()) throw new Error('the subscription ended', { cause: { _tag: 'OlderLog', reason: `the log ends before ${from}` } })
    let next = from === BEGINNING ? 0 : Number(from)
    let position = from
    for (;;) {
      for (let row = log[next]; row !== undefined; row = log[next]) {
        next += 1
        if (signal.aborted) return
        if (!prefixes.some((prefix) => row?.event.stream.startsWith(prefix)) || !isVisible(row)) continue
        position = row.event.position
        yield { kind: 'event', event: row.event }
      }
      if (signal.aborted) return
      yield { kind: 'caught-up', position }
      while (next >= log.length) {
        if (signal.aborted) return
        await nextCommit(signal)
      }
    }
  }

  return {
    append,
    read,
    subscribe,
    head: () => () => TE.right(head())(),
    setMetadata: (name, metadata) => async () => {
      const stream = streamOf(name)
      stream.metadata = metadata
      truncate(stream)
      return TE.right(undefined)()
    },
    deleteStream: (name) => async () => {
      const stream = streams.get(name)
      if (stream !== undefined) stream.first = stream.base = stream.rows.length
      return TE.right(undefined)()
    },
    close: () => Promise.resolve(),
    allEvents: () => log.map(({ event }) => event),
  }
}
