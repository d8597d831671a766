import * as E from 'fp-ts/lib/Either.js'
import type { EventStore } from '../../../application/ports/event-store.ts'

/** Wraps a store and counts the events that it returns. */
export const countReads = (store: EventStore) => {
  let events = 0
  const read: EventStore['read'] = async (stream, options) => {
    const found = await store.read(stream, options)
    if (E.isRight(found)) events += found.right.length
    return found
  }
  return {
    store: { ...store, read },
    /** Runs `task` and returns how many events it read. */
    during: async (task: () => Promise<unknown>): Promise<number> => {
      const before = events
      await task()
      return events - before
    },
  }
}
