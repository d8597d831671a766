import type { Timers } from '../../application/ports/timers.ts'

/** The timers of Node. */
export const systemTimers: Timers = {
  after: (ms, task) => {
    const timer = setTimeout(task, ms)
    return () => clearTimeout(timer)
  },
}
