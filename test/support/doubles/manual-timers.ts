import type { Timers } from '../../../application/ports/timers.ts'

export interface ManualTimers extends Timers {
  readonly monotonic: () => number
  /** Moves the clock by `ms` and runs the due tasks in order, also tasks that these tasks set. */
  readonly advance: (ms: number) => void
  /** Simulates a blocked event loop: the due tasks run late, and timers that they set start from the new time. */
  readonly standStill: (ms: number) => void
  /** Number of waiting tasks. */
  readonly size: () => number
}

/** Timers and a monotonic clock that move only when a test moves them. */
export const createManualTimers = (): ManualTimers => {
  const tasks = new Set<{ readonly due: number; readonly task: () => void }>()
  let now = 0
  return {
    monotonic: () => now,
    after: (ms, task) => {
      const entry = { due: now + ms, task }
      tasks.add(entry)
      return () => tasks.delete(entry)
    },
    advance: (ms) => {
      const until = now + ms
      for (;;) {
        const [next] = [...tasks].filter(({ due }) => due <= until).sort((a, b) => a.due - b.due)
        if (next === undefined) break
        tasks.delete(next)
        now = next.due
        next.task()
      }
      now = until
    },
    standStill: (ms) => {
      now += ms
      const late = [...tasks].filter(({ due }) => due <= now).sort((a, b) => a.due - b.due)
      for (const entry of late) if (tasks.delete(entry)) entry.task()
    },
    size: () => tasks.size,
  }
}
