import type { Logger } from '../../application/ports/environment.ts'
import type { Timers } from '../../application/ports/timers.ts'

const CHECK_INTERVAL_MS = 500
/** A turn of the event loop that takes longer than this is logged. */
const MAX_TURN_MS = 1000

interface LoopWatchOptions {
  readonly timers: Timers
  readonly monotonic: () => number
  /** CPU time of this process in milliseconds. */
  readonly cpu?: () => number
  readonly logger: Pick<Logger, 'warn'>
}

const ownCpu = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/**
 * Logs when the event loop was blocked, with the cause. If the process used much CPU time meanwhile, our own work
 * blocked the loop. If it used little, the process was stopped or got no CPU. Returns a function that stops the watch.
 */
export const watchLoop = ({ timers, monotonic, cpu = ownCpu, logger }: LoopWatchOptions): (() => void) => {
  let cancel: () => void = () => undefined
  const wait = (): void => {
    const [startedAt, cpuAtStart] = [monotonic(), cpu()]
    cancel = timers.after(CHECK_INTERVAL_MS, () => {
      const lateMs = Math.round(monotonic() - startedAt - CHECK_INTERVAL_MS)
      if (lateMs > MAX_TURN_MS) {
        const cpuMs = Math.round(cpu() - cpuAtStart)
        const cause = cpuMs > lateMs / 2 ? 'own work' : 'not scheduled'
        logger.warn({ ms: lateMs, cpuMs, cause }, 'the event loop was blocked')
      }
      wait()
    })
  }
  wait()
  return () => cancel()
}
