import { typedDocuments } from '../typed-documents.ts'

export const LIVE_COUNTS = 'live-counts'
/** The counts of all users, in parts (`totals.ts`). */
export const LIVE_TOTALS = 'live-totals-2'

/**
 * A user's sessions by status: ids of pending and active sessions, numbers of finished and failed ones. The id of the
 * document is the user's id as text. `userId` 0 means all users.
 */
export interface LiveCountsDocument {
  readonly userId: number
  readonly pending: ReadonlyArray<number>
  readonly active: ReadonlyArray<number>
  readonly finished: number
  readonly error: number
  /** Ids of sessions that are not counted, because the event of their creation is damaged. Absent without damage. */
  readonly uncounted?: ReadonlyArray<number>
}

export interface LiveTotalsDocument extends LiveCountsDocument {
  readonly part: number
}

export const liveCountsIn = typedDocuments<LiveCountsDocument>(LIVE_COUNTS)
export const liveTotalsIn = typedDocuments<LiveTotalsDocument>(LIVE_TOTALS)
