import type { LogCorrupted, OlderLog, StoreUnavailable } from '../../application/ports/event-store.ts'

export const unavailable = (reason: string): StoreUnavailable => ({ _tag: 'StoreUnavailable', reason })

export const olderLog = (reason: string): OlderLog => ({ _tag: 'OlderLog', reason })

/** `row` says which, so that whoever follows the log can go on behind it. */
export const corrupted = (reason: string, row?: NonNullable<LogCorrupted['row']>): LogCorrupted =>
  row === undefined ? { _tag: 'LogCorrupted', reason } : { _tag: 'LogCorrupted', reason, row }

/**
 * Why a call failed, for logs. Whatever it was that the store or the connection said, the outcome of an append is then
 * unknown: of those rejected in a crash of a real server up to 45 % had been stored.
 */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  return error.message === '' ? error.constructor.name : error.message
}
