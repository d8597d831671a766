import { liveEvents } from '../../domain/live/events.ts'
import type { StoredLiveEvent } from '../../domain/live/events.ts'
import { defineProjection } from '../projection.ts'
import { ALL_LIVES, LIVE_COUNTS, LIVE_TOTALS } from './document.ts'
import type { LiveCountsDocument } from './document.ts'

const none = (userId: number): LiveCountsDocument => ({ userId, pending: [], active: [], finished: 0, error: 0 })

const without = (ids: ReadonlyArray<number>, id: number): ReadonlyArray<number> => ids.filter((other) => other !== id)

/** Moves an open session to a total. A session that is not open was counted before. */
const ended = (counts: LiveCountsDocument, liveId: number, total: 'finished' | 'error'): LiveCountsDocument =>
  counts.pending.includes(liveId) || counts.active.includes(liveId)
    ? {
        ...counts,
        pending: without(counts.pending, liveId),
        active: without(counts.active, liveId),
        [total]: counts[total] + 1,
      }
    : counts

const started = (counts: LiveCountsDocument, liveId: number): LiveCountsDocument =>
  counts.pending.includes(liveId)
    ? { ...counts, pending: without(counts.pending, liveId), active: [...counts.active, liveId] }
    : counts

const fold = (
  current: LiveCountsDocument | null,
  event: StoredLiveEvent,
  userId: number,
): LiveCountsDocument | null => {
  const { liveId } = event.data
  const counts = current ?? none(userId)
  switch (event.type) {
    case 'LiveCreated':
      return { ...counts, pending: [...without(counts.pending, liveId), liveId] }
    case 'LiveStarted':
      return started(counts, liveId)
    case 'LiveFinished':
      return ended(counts, liveId, 'finished')
    case 'LiveFailed':
      return ended(counts, liveId, 'error')
    case 'LiveAborted':
      return current && {
        ...current,
        pending: without(current.pending, liveId),
        active: without(current.active, liveId),
      }
    case 'LiveDeleted':
      return current && { ...current, [event.data.lastStatus]: current[event.data.lastStatus] - 1 }
    case 'SourceStarted':
    case 'SenderAttached':
    case 'SenderDetached':
    case 'LiveTakenOver':
    case 'VocabularyChanged':
      return current
    default:
      return event satisfies never
  }
}

/**
 * Counts a user's sessions by status, so that lists need not count documents. The counts are folded from events only.
 * After a crash some events come again, and counts that are derived from other documents would count them twice.
 */
export const liveCounts = defineProjection({
  name: 'live-counts',
  collection: { name: LIVE_COUNTS, indexes: [] },
  prefixes: ['live-'],
  events: liveEvents,
  touches: (event) => [String(event.data.userId)],
  project: (current: LiveCountsDocument | null, event) => fold(current, event, event.data.userId),
})

/** Counts the sessions of all users by status, for administrators. */
export const liveTotals = defineProjection({
  name: 'live-totals',
  collection: { name: LIVE_TOTALS, indexes: [] },
  prefixes: ['live-'],
  events: liveEvents,
  touches: () => [ALL_LIVES],
  project: (current: LiveCountsDocument | null, event) => fold(current, event, 0),
})
