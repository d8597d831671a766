import { liveEvents, type StoredLiveEvent } from '../../domain/live/events.ts'
import { defineProjection } from '../projection.ts'
import { partOf } from '../totals.ts'
import { LIVE_COUNTS, LIVE_TOTALS, type LiveCountsDocument, type LiveTotalsDocument } from './document.ts'

const none = (userId: number): LiveCountsDocument => ({ userId, pending: [], active: [], finished: 0, error: 0 })

const without = (ids: ReadonlyArray<number>, id: number): ReadonlyArray<number> => ids.filter((other) => other !== id)

const isOpen = ({ pending, active }: LiveCountsDocument, liveId: number): boolean =>
  pending.includes(liveId) || active.includes(liveId)

const withoutOpen = (counts: LiveCountsDocument, liveId: number): LiveCountsDocument => ({
  ...counts, pending: without(counts.pending, liveId), active: without(counts.active, liveId),
})

/** Remembers a session whose creation cannot be read. It is in no list, so its deletion must not lower a count. */
const uncounted = (counts: LiveCountsDocument, liveId: number): LiveCountsDocument =>
  counts.uncounted?.includes(liveId) === true
    ? counts
    : { ...counts, uncounted: [...(counts.uncounted ?? []), liveId] }

const deleted = (
  { uncounted: unread, ...counts }: LiveCountsDocument, liveId: number, total: 'finished' | 'error',
): LiveCountsDocument => {
  if (unread?.includes(liveId) !== true) {
    // The session is still open if the event of its end is damaged.
    const next = isOpen(counts, liveId) ? withoutOpen(counts, liveId) : { ...counts, [total]: counts[total] - 1 }
    return unread === undefined ? next : { ...next, uncounted: unread }
  }
  const others = without(unread, liveId)
  return others.length === 0 ? counts : { ...counts, uncounted: others }
}

type OpenEvent = Exclude<StoredLiveEvent, { readonly type: 'LiveCreated' | 'LiveAborted' | 'LiveDeleted' }>

/** Folds an event that only an open session has. */
const changed = (counts: LiveCountsDocument, { type, data: { liveId } }: OpenEvent): LiveCountsDocument => {
  switch (type) {
    case 'LiveStarted':
      return { ...withoutOpen(counts, liveId), active: [...without(counts.active, liveId), liveId] }
    case 'LiveFinished':
      return { ...withoutOpen(counts, liveId), finished: counts.finished + 1 }
    case 'LiveFailed':
      return { ...withoutOpen(counts, liveId), error: counts.error + 1 }
    case 'SourceStarted':
    case 'SenderAttached':
    case 'SenderDetached':
    case 'LiveTakenOver':
    case 'VocabularyChanged':
      return counts
    default:
      return type satisfies never
  }
}

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
    case 'LiveAborted':
      return current && withoutOpen(current, liveId)
    case 'LiveDeleted':
      return current && deleted(current, liveId, event.data.lastStatus)
    default:
      return isOpen(counts, liveId) ? changed(counts, event) : uncounted(counts, liveId)
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
  name: 'live-totals-2',
  collection: { name: LIVE_TOTALS, indexes: [['part']] },
  prefixes: ['live-'],
  events: liveEvents,
  touches: (event) => [String(partOf(event.data.liveId))],
  project: (current: LiveTotalsDocument | null, event) => {
    const counts = fold(current, event, 0)
    return counts === current || counts === null ? current : { ...counts, part: partOf(event.data.liveId) }
  },
})
