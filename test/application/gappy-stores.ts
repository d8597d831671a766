import { BEGINNING } from '../../application/ports/event-store.ts'
import type { EventStore } from '../../application/ports/event-store.ts'

/** A store that refuses the events of these numbers, from 0. */
export const damagedAt = (store: EventStore, numbers: ReadonlyArray<number>): EventStore => ({
  ...store,
  subscribe: async function* (from, prefixes, signal) {
    let number = 0
    for await (const message of store.subscribe(BEGINNING, prefixes, signal)) {
      if (message.kind !== 'event') yield message
      else {
        const { stream, position } = message.event
        const row = { position, stream }
        if (position > from && numbers.includes(number)) throw new Error('damaged', { cause: { _tag: 'LogCorrupted', reason: 'r', row } })
        if (position > from) yield message
        number += 1
      }
    }
  },
})

/** A store that has discarded the events of these numbers, from 0, as a scavenge does. */
export const scavenged = (store: EventStore, numbers: ReadonlyArray<number>): EventStore => ({
  ...store,
  subscribe: async function* (from, prefixes, signal) {
    let number = 0
    for await (const message of store.subscribe(from, prefixes, signal)) {
      if (message.kind !== 'event' || !numbers.includes(number)) yield message
      if (message.kind === 'event') number += 1
    }
  },
})
