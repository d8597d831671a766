import type { LogCorrupted, StoreUnavailable } from '../../application/ports/event-store.ts'
import { isCorruption, isSqliteError } from './database.ts'

/** Converts an error of a read of the log. Throws the error again when it does not come from SQLite. */
export const readFailure = (error: unknown): StoreUnavailable | LogCorrupted => {
  if (isCorruption(error)) return { _tag: 'LogCorrupted', reason: error.message }
  if (isSqliteError(error)) return { _tag: 'StoreUnavailable', reason: error.message }
  throw error
}
