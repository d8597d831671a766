import assert from 'node:assert/strict'
import test from 'ava'
import * as fc from 'fast-check'
import type { StoredLiveEvent } from '../../../domain/live/events.ts'
import type { LiveCountsDocument } from '../../../projections/live-counts/document.ts'
import { liveCounts, liveTotals } from '../../../projections/live-counts/projection.ts'
import { lives } from '../../../projections/lives/projection.ts'
import { createMemoryDocuments } from '../../support/doubles/memory/documents.ts'
import { after } from '../../support/events/sample-events.ts'
import { sealedLive, storedEvents, type PlainEvent } from '../../support/events/stored-events.ts'
import { documentsOf, projectEvents } from '../../support/read-models/specify-projection.ts'
import { right } from '../../support/tools/right.ts'

const live = (liveId: number) => ({ liveId, userId: 3, at: after(1000) })

/** The history of a session, from its creation to any later state. */
const historyOf = (liveId: number): fc.Arbitrary<ReadonlyArray<StoredLiveEvent>> => {
  const about = live(liveId)
  const attached: StoredLiveEvent = { type: 'SenderAttached', data: { ...about, epoch: 1, instance: 'i' } }
  const started: StoredLiveEvent = { type: 'LiveStarted', data: about }
  const ends: ReadonlyArray<StoredLiveEvent> = [
    { type: 'LiveFinished', data: { ...about, reason: 'finish_route' } },
    { type: 'LiveFailed', data: { ...about, code: 'engine_failed', detail: 'gone' } },
  ]
  const deleted = (end: StoredLiveEvent): StoredLiveEvent =>
    ({ type: 'LiveDeleted', data: { ...about, lastStatus: end.type === 'LiveFailed' ? 'error' : 'finished' } })
  return fc
    .tuple(fc.subarray([attached, started]), fc.constantFrom(...ends), fc.nat({ max: 4 }))
    .map(([middle, end, length]) => [sealedLive({ liveId }), ...middle, end, deleted(end)].slice(0, length + 1))
}

/** Makes events unreadable, but never all of those before the deletion. */
const damagedIn = (history: ReadonlyArray<StoredLiveEvent>): fc.Arbitrary<ReadonlyArray<PlainEvent>> => {
  const earlier = history.filter(({ type }) => type !== 'LiveDeleted').length
  return fc
    .array(fc.boolean(), { minLength: history.length, maxLength: history.length })
    .filter((isDamaged) => isDamaged.slice(0, earlier).includes(false))
    .map((isDamaged) => history.map((event, index) => (isDamaged[index] === true ? { ...event, data: {} } : event)))
}

const histories = fc
  .tuple(...[1, 2, 3].map((liveId) => historyOf(liveId).chain(damagedIn)))
  .map((sessions) => sessions.flat())

test('whichever events are damaged, the counts of sessions equal the list of sessions', async (t) => {
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const events = storedEvents(history)
      const documents = createMemoryDocuments()
      right(await documents.ensure([lives, liveCounts, liveTotals].map(({ collection }) => collection)))
      for (const projection of [lives, liveCounts, liveTotals]) await projectEvents(documents, projection, events)
      const listed = Object.values(await documentsOf(documents, lives, events)).map(({ status }) => status)
      const numberOf = (status: string): number => listed.filter((other) => other === status).length
      for (const projection of [liveCounts, liveTotals]) {
        const stored: ReadonlyArray<unknown> = Object.values(await documentsOf(documents, projection, events))
        const parts = stored as ReadonlyArray<LiveCountsDocument>
        const sum = (countOf: (part: LiveCountsDocument) => number): number =>
          parts.reduce((total, part) => total + countOf(part), 0)
        assert.deepEqual(
          [
            sum(({ pending }) => pending.length), sum(({ active }) => active.length),
            sum(({ finished }) => finished), sum(({ error }) => error),
          ],
          ['pending', 'active', 'finished', 'error'].map(numberOf),
        )
      }
    }),
    { numRuns: 500 },
  )
  t.pass()
})
