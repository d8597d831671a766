import type { Timers } from '../../application/ports/timers.ts'

export interface ManualTimers extends Timers {
  readonly monotonic: () => number
  /** Lets `ms` pass: what falls due runs in order, tasks that those set included. */
  readonly advance: (ms: number) => void
  /** Tasks that wait. */
  readonly size: () => number
}

/** Timers and a monotonic clock that move only when a test says so. */
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
    size: () => tasks.size,
  }
}
