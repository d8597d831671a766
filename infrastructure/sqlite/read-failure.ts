import type { LogCorrupted, StoreUnavailable } from '../../application/ports/event-store.ts'
import { isCorruption, isSqliteError } from './database.ts'

/** What an error of a read of the log means; throws what is no error of SQLite. */
export const readFailure = (error: unknown): StoreUnavailable | LogCorrupted => {
  if (isCorruption(error)) return { _tag: 'LogCorrupted', reason: error.message }
  if (isSqliteError(error)) return { _tag: 'StoreUnavailable', reason: error.message }
  throw error
}
