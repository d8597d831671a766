import type { EventStore, NewEvent } from '../../../application/ports/event-store.ts'

/** What EventStoreDB counts of an append. */
const bytesOf = (events: ReadonlyArray<NewEvent>): number =>
  events.reduce((bytes, { type, data, metadata }) =>
    bytes + 2 * type.length + Buffer.byteLength(JSON.stringify(data)) + Buffer.byteLength(JSON.stringify(metadata)), 0)

/** The store, and the bytes of its largest append to each stream so far. */
export const withLargestAppends = (store: EventStore) => {
  const largest = new Map<string, number>()
  const append: EventStore['append'] = (stream, expected, events) => {
    largest.set(stream, Math.max(largest.get(stream) ?? 0, bytesOf(events)))
    return store.append(stream, expected, events)
  }
  return { store: { ...store, append }, largest: (stream: string): number => largest.get(stream) ?? 0 }
}
