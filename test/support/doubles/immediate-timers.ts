import type { Timers } from '../../../application/ports/timers.ts'

/** Timers that run each task in the next turn of the event loop, whatever the delay. */
export const immediateTimers: Timers = {
  after: (_, task) => {
    const immediate = setImmediate(task)
    return () => clearImmediate(immediate)
  },
}
