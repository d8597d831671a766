import type { Timers } from '../../../../application/ports/timers.ts'

/** Deliveries in one direction between two processes, in order. */
export interface DeliveryQueue {
  readonly push: (deliver: () => void, size?: number) => void
  /** Runs the due deliveries, unless the connection is held. */
  readonly flush: () => void
  /** The sum of the sizes of the waiting deliveries. */
  readonly waiting: () => number
  readonly drop: () => void
}

/**
 * Delivers each entry in its own turn of the event loop, or after `delay` milliseconds. While `isHeld` returns true,
 * nothing is delivered.
 */
export const createDeliveryQueue = (isHeld: () => boolean, delay: () => number, timers: Timers): DeliveryQueue => {
  let queue: Array<{ readonly deliver: () => void; readonly size: number; isDue: boolean }> = []
  let waiting = 0
  const flush = (): void => {
    while (!isHeld() && queue[0]?.isDue === true) {
      const first = queue.shift()
      waiting -= first?.size ?? 0
      first?.deliver()
    }
  }
  return {
    push: (deliver, size = 0) => {
      const entry = { deliver, size, isDue: false }
      queue.push(entry)
      waiting += size
      const setDue = (): void => {
        entry.isDue = true
        flush()
      }
      if (delay() > 0) timers.after(delay(), setDue)
      else setImmediate(setDue)
    },
    flush,
    waiting: () => waiting,
    drop: () => {
      queue = []
      waiting = 0
    },
  }
}
