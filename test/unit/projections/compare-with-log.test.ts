import test from 'ava'
import type { Document } from '../../../application/ports/documents.ts'
import { BEGINNING, type Position } from '../../../application/ports/event-store.ts'
import type { StoredLiveEvent } from '../../../domain/live/events.ts'
import { differencesFromLog } from '../../../projections/compare-with-log.ts'
import { foldLive, lives } from '../../../projections/lives/projection.ts'
import { modelOf } from '../../../projections/projection.ts'
import { after } from '../../support/events/sample-events.ts'
import { checkpointAt } from '../../support/read-models/checkpoints.ts'
import { createMemoryDocuments } from '../../support/doubles/memory/documents.ts'
import { logOf, sealedLive, storedEvents } from '../../support/events/stored-events.ts'
import { right } from '../../support/tools/right.ts'

const about = (liveId: number) => ({ liveId, userId: 3, at: after(1000) })
const started = (liveId: number): StoredLiveEvent => ({ type: 'LiveStarted', data: about(liveId) })
const deleted = (liveId: number): StoredLiveEvent => ({
  type: 'LiveDeleted',
  data: { ...about(liveId), lastStatus: 'finished' },
})
const EVENTS = storedEvents([
  sealedLive({ liveId: 1 }),
  sealedLive({ liveId: 2 }),
  started(1),
  sealedLive({ liveId: 3 }),
  started(3),
  deleted(2),
])
const positionOf = (count: number): Position => EVENTS[count - 1]?.position ?? BEGINNING

/** The document of a session after the first `count` events of the log. */
const live = (id: number, count: number, changes: Document = {}): Document => {
  const ownEvents = EVENTS.slice(0, count).filter(({ stream }) => stream === `live-${id}`)
  return { ...foldLive(ownEvents), position: ownEvents.at(-1)?.position, ...changes }
}

/** The reported differences of these documents, with a checkpoint after the second event. */
const differencesOf = async (changes: Readonly<Record<string, Document | null>>): Promise<ReadonlyArray<string>> => {
  const documents = createMemoryDocuments()
  right(await documents.ensure([lives.collection]))
  for (const [id, document] of Object.entries({ 1: live(1, 2), 2: live(2, 2), ...changes })) {
    if (document === null) continue
    const put = { kind: 'put', collection: 'lives', id, document, position: document['position'] as Position } as const
    right(await documents.commit(modelOf(lives), [put], checkpointAt(positionOf(2))))
  }
  const found = await differencesFromLog({ store: logOf(EVENTS), documents, scratch: createMemoryDocuments() }, lives)
  return found.map(({ id, kind }) => `${id} ${kind}`)
}

test('changes and removals ahead of the checkpoint, as a crash leaves them, are not reported', async (t) => {
  t.deepEqual(await differencesOf({}), [])
  t.deepEqual(await differencesOf({ 1: live(1, 3) }), [])
  t.deepEqual(await differencesOf({ 3: live(3, 4) }), [], 'written before all events of its batch')
  t.deepEqual(await differencesOf({ 3: live(3, 5) }), [])
  t.deepEqual(await differencesOf({ 2: null }), [])
  t.deepEqual(await differencesOf({ 1: live(1, 3), 2: null, 3: live(3, 4) }), [])
})

test('a wrong document ahead of its checkpoint is reported', async (t) => {
  t.deepEqual(await differencesOf({ 1: live(1, 3, { status: 'finished' }) }), ['1 differs'])
  t.deepEqual(
    await differencesOf({ 3: live(3, 4, { position: positionOf(5) }) }),
    ['3 differs'],
    'it lacks an event before its position',
  )
  t.deepEqual(await differencesOf({ 4: live(3, 4) }), ['4 surplus'])
  t.deepEqual(await differencesOf({ 1: null }), ['1 missing'])
  t.deepEqual(await differencesOf({ 1: live(1, 3), 3: live(3, 5, { vram: 1 }) }), ['3 differs'])
})

test('a document at or before its checkpoint must equal the log up to the checkpoint', async (t) => {
  t.deepEqual(await differencesOf({ 2: live(2, 2, { vram: 1 }) }), ['2 differs'], 'its deletion comes later')
  t.deepEqual(
    await differencesOf({ 3: live(3, 4, { position: positionOf(1) }) }),
    ['3 surplus'],
    'its creation comes later',
  )
})
