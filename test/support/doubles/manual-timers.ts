import type { Timers } from '../../../application/ports/timers.ts'

export interface ManualTimers extends Timers {
  readonly monotonic: () => number
  /** Lets `ms` pass: what falls due runs in order, tasks that those set included. */
  readonly advance: (ms: number) => void
  /** The event loop stands still for `ms`: what fell due meanwhile runs late, what that sets waits from now on. */
  readonly standStill: (ms: number) => void
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
    standStill: (ms) => {
      now += ms
      const late = [...tasks].filter(({ due }) => due <= now).sort((a, b) => a.due - b.due)
      for (const entry of late) if (tasks.delete(entry)) entry.task()
    },
    size: () => tasks.size,
  }
}
