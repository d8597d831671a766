import type { Logger } from '../../application/ports/environment.ts'
import type { Timers } from '../../application/ports/timers.ts'

const EVERY_MS = 60_000

/** Warnings of what may come in floods. */
export interface RareWarnings {
  /** The first is told at once, those of the next minute as one number. */
  readonly warn: (message: string, fields: Readonly<Record<string, unknown>>) => void
  readonly close: () => void
}

/** Each message has a minute of its own, so there must be few of them; the last of a flood stands for it. */
export const createRareWarnings = (logger: Logger, timers: Timers): RareWarnings => {
  interface Quiet {
    more: number
    last: Readonly<Record<string, unknown>>
    cancel: () => void
  }
  const quiet = new Map<string, Quiet>()
  let isClosed = false
  const hush = (message: string, fields: Quiet['last']): void => {
    const entry: Quiet = { more: 0, last: fields, cancel: () => undefined }
    quiet.set(message, entry)
    entry.cancel = timers.after(EVERY_MS, () => {
      quiet.delete(message)
      if (entry.more === 0) return
      logger.warn({ ...entry.last, times: entry.more }, message)
      hush(message, entry.last)
    })
  }
  return {
    warn: (message, fields) => {
      const known = quiet.get(message)
      if (known === undefined) {
        logger.warn(fields, message)
        // What is still said while all ends must not keep the process for a minute.
        return isClosed ? undefined : hush(message, fields)
      }
      known.more += 1
      known.last = fields
    },
    close: () => {
      isClosed = true
      for (const { cancel } of quiet.values()) cancel()
      quiet.clear()
    },
  }
}
