import type { Timers } from '../../../application/ports/timers.ts'

/** Timers for which every wait is over at once, though never in the same turn. */
export const immediateTimers: Timers = {
  after: (_, task) => {
    const immediate = setImmediate(task)
    return () => clearImmediate(immediate)
  },
}
