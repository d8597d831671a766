import type { Timers } from '../../application/ports/timers.ts'

/** Node's timers. */
export const systemTimers: Timers = {
  after: (ms, task) => {
    const timer = setTimeout(task, ms)
    return () => clearTimeout(timer)
  },
}
