import { createLruCache } from './lru-cache.ts'
import type { Environment } from './ports/environment.ts'
import type { EventStore } from './ports/event-store.ts'

/** Ages that are remembered. Beyond it, the age that was used least recently is read off the store's clock again. */
const MAX_REMEMBERED = 50_000

/**
 * Returns for how many milliseconds an event has been in the log, at least 0. `name` tells events of the same time
 * apart: a position, or the stream.
 */
export type AgeOf = (name: string | number, storedAt: number) => number

/**
 * Measures how old events are, for everything that waits. When an event is first seen, the store's own clock says how
 * old it is; a time ahead counts as now. From then on the monotonic clock of this process counts. So a clock that is
 * set while the process runs shortens and lengthens no wait, and no clock of another machine counts.
 */
export const createAges = (
  { store, environment }: {
    readonly store: Pick<EventStore, 'now'>
    readonly environment: Pick<Environment, 'monotonic'>
  },
): AgeOf => {
  const births = createLruCache<string, number>(MAX_REMEMBERED)
  return (name, storedAt) => {
    const event = `${name} ${storedAt}`
    const now = environment.monotonic()
    const birth = births.get(event) ?? now - Math.max(0, store.now() - storedAt)
    births.set(event, birth)
    return now - birth
  }
}
