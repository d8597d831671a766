import type { Logger } from '../../application/ports/environment.ts'
import type { Timers } from '../../application/ports/timers.ts'

const EVERY_MS = 500
/** F19: a turn of the event loop that takes longer than this is logged. */
const STALLED_MS = 1000

interface LoopWatchOptions {
  readonly timers: Timers
  readonly monotonic: () => number
  /** Milliseconds that this process has spent on CPUs. */
  readonly cpu?: () => number
  readonly logger: Pick<Logger, 'warn'>
}

const ownCpu = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/**
 * Logs when the event loop stood still, and why: with its CPU time near the whole our own work held it, with little the
 * process was stopped or starved. The function returned ends the watch.
 */
export const watchLoop = ({ timers, monotonic, cpu = ownCpu, logger }: LoopWatchOptions): (() => void) => {
  let cancel: () => void = () => undefined
  const wait = (): void => {
    const [since, spent] = [monotonic(), cpu()]
    cancel = timers.after(EVERY_MS, () => {
      const late = Math.round(monotonic() - since - EVERY_MS)
      if (late > STALLED_MS) {
        const cpuMs = Math.round(cpu() - spent)
        logger.warn({ ms: late, cpuMs, cause: cpuMs > late / 2 ? 'own work' : 'not scheduled' }, 'the event loop stood still')
      }
      wait()
    })
  }
  wait()
  return () => cancel()
}
