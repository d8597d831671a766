import type { Logger } from '../../application/ports/environment.ts'
import type { Timers } from '../../application/ports/timers.ts'

const INTERVAL_MS = 60_000

/** Warnings that may occur in floods. */
export interface ThrottledWarnings {
  /** Logs the first warning at once. Counts repetitions during the next minute and logs them as one line. */
  readonly warn: (message: string, fields: Readonly<Record<string, unknown>>) => void
  readonly close: () => void
}

/**
 * Creates warnings that are logged at most once a minute for each message. Each message keeps its own timer, so use few
 * different messages. The line for a flood shows the fields of its last warning.
 */
export const createThrottledWarnings = (logger: Logger, timers: Timers): ThrottledWarnings => {
  interface Muted {
    repetitions: number
    last: Readonly<Record<string, unknown>>
    cancel: () => void
  }
  const muted = new Map<string, Muted>()
  let isClosed = false
  const mute = (message: string, fields: Muted['last']): void => {
    const entry: Muted = { repetitions: 0, last: fields, cancel: () => undefined }
    muted.set(message, entry)
    entry.cancel = timers.after(INTERVAL_MS, () => {
      muted.delete(message)
      if (entry.repetitions === 0) return
      logger.warn({ ...entry.last, times: entry.repetitions }, message)
      mute(message, entry.last)
    })
  }
  return {
    warn: (message, fields) => {
      const entry = muted.get(message)
      if (entry === undefined) {
        logger.warn(fields, message)
        // After close, a new timer would keep the process alive for a minute.
        return isClosed ? undefined : mute(message, fields)
      }
      entry.repetitions += 1
      entry.last = fields
    },
    close: () => {
      isClosed = true
      for (const { cancel } of muted.values()) cancel()
      muted.clear()
    },
  }
}
