import type { Timers } from '../../../../application/ports/timers.ts'

/** What passes one way between two processes, in order. */
export interface DeliveryQueue {
  readonly push: (task: () => void, size?: number) => void
  /** Lets pass what waits, where nothing holds it. */
  readonly flush: () => void
  /** Sizes of what waits. */
  readonly waiting: () => number
  readonly drop: () => void
}

/** Each passes in a turn of the loop of its own, or after `delay` milliseconds of the timers, unless `isHeld`. */
export const createDeliveryQueue = (isHeld: () => boolean, delay: () => number, timers: Timers): DeliveryQueue => {
  let queue: Array<{ readonly task: () => void; readonly size: number; isDue: boolean }> = []
  let waiting = 0
  const flush = (): void => {
    while (!isHeld() && queue[0]?.isDue === true) {
      const first = queue.shift()
      waiting -= first?.size ?? 0
      first?.task()
    }
  }
  return {
    push: (task, size = 0) => {
      const entry = { task, size, isDue: false }
      queue.push(entry)
      waiting += size
      const due = (): void => {
        entry.isDue = true
        flush()
      }
      if (delay() > 0) timers.after(delay(), due)
      else setImmediate(due)
    },
    flush,
    waiting: () => waiting,
    drop: () => {
      queue = []
      waiting = 0
    },
  }
}
