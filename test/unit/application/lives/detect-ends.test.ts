import test from 'ava'
import { detectEnds } from '../../../../application/lives/policies/detect-ends.ts'
import type { Position, StoredEvent } from '../../../../application/ports/event-store.ts'

const at = '2026-11-21T09:30:00.123456+00:00'

const eventAt = (n: number, type: string, data: Readonly<Record<string, unknown>>): StoredEvent => ({
  id: String(n), type, data, stream: `live-${n}`, revision: n, position: String(n).padStart(4, '0') as Position,
  storedAt: 0,
  metadata: { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: at },
})
const dataOf = (liveId: number) => ({ liveId, userId: 1, at })
const released = (n: number, liveId: number) => eventAt(n, 'Released', { liveId, at })

test('the end of a session is complete after its release; an open or unreadable session has no complete end', (t) => {
  const completedBy = detectEnds()
  const ends = [
    eventAt(1, 'LiveStarted', dataOf(1)),
    eventAt(2, 'LiveFinished', { ...dataOf(2), reason: 'unknown reason' }),
    eventAt(6, 'LiveFinished', { ...dataOf(6), reason: 'finish_route' }),
    eventAt(7, 'LiveFailed', { ...dataOf(7), code: 'engine_failed', detail: 'broken' }),
    released(8, 7),
    released(9, 6),
    released(10, 6),
    eventAt(11, 'LiveFinished', { ...dataOf(11), reason: 'finish_route' }),
    released(12, 2),
  ].map(completedBy)
  t.deepEqual(ends.filter((end) => end !== undefined), [
    { liveId: 7, cause: { status: 'error', code: 'engine_failed', detail: 'broken' }, position: '0007' as Position },
    { liveId: 6, cause: { status: 'finished', reason: 'finish_route' }, position: '0006' as Position },
  ])
  t.deepEqual(ends.map((end) => end?.liveId ?? null), [null, null, null, null, 7, 6, null, null, null])
})
