import type { EventStore } from './ports/event-store.ts'

/**
 * Returns the present time by the clock of the store, as an instant. Events whose times are compared later must have
 * it: all processes share this clock, and setting the clock of a machine does not change it.
 */
export const storeInstant = (store: Pick<EventStore, 'now'>): string =>
  new Date(store.now()).toISOString().replace('Z', '000+00:00')
