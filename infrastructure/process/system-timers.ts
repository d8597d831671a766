import type { Timers } from '../../application/ports/timers.ts'

/** Longest delay of a Node timer, in milliseconds: 24.8 days. Node runs a task with a longer delay at once. */
const LONGEST_MS = 2 ** 31 - 1

/** The timers of Node, without their limit: a longer delay uses several timers. */
export const systemTimers: Timers = {
  after: (ms, task) => {
    let timer: NodeJS.Timeout | undefined
    const wait = (remaining: number): void => {
      const next = remaining > LONGEST_MS ? () => wait(remaining - LONGEST_MS) : task
      timer = setTimeout(next, Math.min(remaining, LONGEST_MS))
    }
    wait(ms)
    return () => clearTimeout(timer)
  },
}
