import type { EventStore, NewEvent } from '../../../application/ports/event-store.ts'

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** The size of an append by the rules of EventStoreDB. */
const bytesOf = (events: ReadonlyArray<NewEvent>): number =>
  events.reduce((sum, { type, data, metadata }) => sum + 2 * type.length + jsonBytes(data) + jsonBytes(metadata), 0)

/** Wraps a store. `largest` returns the bytes of the largest append to a stream so far. */
export const withLargestAppends = (store: EventStore) => {
  const largest = new Map<string, number>()
  const append: EventStore['append'] = (stream, expected, events) => {
    largest.set(stream, Math.max(largest.get(stream) ?? 0, bytesOf(events)))
    return store.append(stream, expected, events)
  }
  return { store: { ...store, append }, largest: (stream: string): number => largest.get(stream) ?? 0 }
}
