import { typedDocuments } from '../typed-documents.ts'

export const LIVE_COUNTS = 'live-counts'
/** The lives of all users by status: one document, ALL_LIVES, like that of a user. */
export const LIVE_TOTALS = 'live-totals'
export const ALL_LIVES = 'all'

/**
 * A user's lives by status (id: the user's id as text; userId 0 stands for all users), folded from events alone: open
 * ones by id, ended ones as totals.
 */
export interface LiveCountsDocument {
  readonly userId: number
  readonly pending: ReadonlyArray<number>
  readonly active: ReadonlyArray<number>
  readonly finished: number
  readonly error: number
}

export const liveCountsIn = typedDocuments<LiveCountsDocument>(LIVE_COUNTS)
export const liveTotalsIn = typedDocuments<LiveCountsDocument>(LIVE_TOTALS)
