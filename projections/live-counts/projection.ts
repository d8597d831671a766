import { liveEvents } from '../../domain/live/events.ts'
import type { StoredLiveEvent } from '../../domain/live/events.ts'
import { defineProjection } from '../projection.ts'
import { ALL_LIVES, LIVE_COUNTS, LIVE_TOTALS } from './document.ts'
import type { LiveCountsDocument } from './document.ts'

const none = (userId: number): LiveCountsDocument => ({ userId, pending: [], active: [], finished: 0, error: 0 })

const without = (ids: ReadonlyArray<number>, id: number): ReadonlyArray<number> => ids.filter((other) => other !== id)

/** An ended live leaves the open ones and adds to a total; one that is not open here was counted already. */
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

const fold = (current: LiveCountsDocument | null, event: StoredLiveEvent, userId: number): LiveCountsDocument | null => {
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
      return current && { ...current, pending: without(current.pending, liveId), active: without(current.active, liveId) }
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
 * Totals of a user's lives by status, so that no listing ever counts documents. Folded from events alone: a counter
 * derived from the lives' documents would count twice when a crash repeats an event.
 */
export const liveCounts = defineProjection({
  name: 'live-counts',
  collection: { name: LIVE_COUNTS, indexes: [] },
  prefixes: ['live-'],
  events: liveEvents,
  touches: (event) => [String(event.data.userId)],
  project: (current: LiveCountsDocument | null, event) => fold(current, event, event.data.userId),
})

/** The same of all users together, for administrators. */
export const liveTotals = defineProjection({
  name: 'live-totals',
  collection: { name: LIVE_TOTALS, indexes: [] },
  prefixes: ['live-'],
  events: liveEvents,
  touches: () => [ALL_LIVES],
  project: (current: LiveCountsDocument | null, event) => fold(current, event, 0),
})
