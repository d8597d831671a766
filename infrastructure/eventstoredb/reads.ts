import * as E from 'fp-ts/lib/Either.js'
import { BEGINNING, type EventStore, type StoredEvent } from '../../application/ports/event-store.ts'
import type { Calls } from './calls.ts'
import { toPosition } from './positions.ts'
import { toStoredEvent } from './stored-event.ts'

export const createReads = (calls: Calls): Pick<EventStore, 'read' | 'head'> => ({
  read: async (stream, { from, direction = 'forwards', limit } = {}) => {
    // The server refuses a read of zero events.
    if (limit === 0) return E.right([])
    const end = direction === 'forwards' ? 'start' : 'end'
    const fromRevision = from === undefined ? end : BigInt(from)
    const count = limit === undefined ? {} : { maxCount: limit }
    const found = await calls.read((client, options) =>
      client.readStream(stream, { ...options, direction, fromRevision, ...count }),
    )
    if (E.isLeft(found)) return found
    const events: StoredEvent[] = []
    for (const { event } of found.right) {
      const stored = toStoredEvent(event)
      if (E.isLeft(stored)) return stored
      events.push(stored.right)
    }
    return E.right(events)
  },

  head: async () => {
    const found = await calls.read((client, options) =>
      client.readAll({ ...options, direction: 'backwards', fromPosition: 'end', maxCount: 1 }),
    )
    if (E.isLeft(found)) return found
    const newest = found.right[0]?.event?.position
    return E.right(newest === undefined ? BEGINNING : toPosition(newest))
  },
})
