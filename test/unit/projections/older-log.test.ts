import assert from 'node:assert/strict'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Checkpoint } from '../../../application/ports/documents.ts'
import {
  BEGINNING, type EventStore, type ExpectedRevision, type Position,
} from '../../../application/ports/event-store.ts'
import { SESSION_LISTS } from '../../../application/ports/projector.ts'
import { allProjections } from '../../../projections/all-projections.ts'
import { olderLogReason } from '../../../projections/older-log.ts'
import { startProjector } from '../../../projections/projector.ts'
import { SINGLE_PROCESS_LEASES } from '../../support/worlds/single-process-leases.ts'
import {
  discardNewerThanLog, dutyCheckpoint, refuseOlderLog,
} from '../../../projections/rebuild/discard-newer-than-log.ts'
import { systemTimers } from '../../../infrastructure/process/system-timers.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { createMemoryDocuments } from '../../support/doubles/memory/documents.ts'
import { createMemoryEventStore } from '../../support/doubles/memory/event-store.ts'
import { right } from '../../support/tools/right.ts'
import { sealedLive } from '../../support/events/stored-events.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'
import { createTestEnvironment } from '../../support/doubles/environment.ts'
import { checkpointAt, duty } from '../../support/read-models/checkpoints.ts'
import { modelOf } from '../../../projections/projection.ts'
import { lives } from '../../../projections/lives/projection.ts'
import { liveCounts } from '../../../projections/live-counts/projection.ts'

const environment = createTestEnvironment()
const metadata = { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: environment.now() }

/** Appends a created session: as the first event of its stream, or after revision `expected`. */
const createLive = async (
  store: EventStore,
  liveId: number,
  expected: ExpectedRevision = 'no-stream',
): Promise<Position> => {
  const { type, data } = sealedLive({ liveId, userId: 1, at: environment.now() })
  return right(
    await store.append(`live-${liveId}`, expected, [{ id: environment.newId(), type, data: { ...data }, metadata }]),
  ).position
}

/** Returns a log with `count` sessions. A smaller log stands for an older copy of a larger log. */
const logOf = async (count: number) => {
  const store = createMemoryEventStore()
  for (let liveId = 1; liveId <= count; liveId++) await createLive(store, liveId)
  return store
}

/** Returns read models that have one document each and a checkpoint at `position`. */
const readModelsAt = async (position: Position) => {
  const documents = createMemoryDocuments()
  for (const { name, collection } of allProjections) {
    right(await documents.ensure([collection]))
    const change = { kind: 'put', collection: collection.name, id: '1', document: { id: 1 }, position } as const
    right(await documents.commit({ projection: name, collection: collection.name }, [change], checkpointAt(position)))
  }
  right(await documents.commit(duty('duty'), [], checkpointAt(position)))
  return documents
}

test('read models with a checkpoint after the end of the log are discarded, the others stay', async (t) => {
  const later = right(await (await logOf(10)).head())
  const [store, documents] = [await logOf(4), await readModelsAt(later)]
  const projections = allProjections.filter(({ name }) => name !== 'live-counts')
  const discarded = right(await discardNewerThanLog({ store, documents, projections, duties: ['duty'] }))
  t.is(right(await documents.checkpoint(modelOf(lives))).position, BEGINNING)
  t.is(right(await documents.checkpoint(duty('duty'))).position, BEGINNING)
  t.is(
    right(await documents.checkpoint(modelOf(liveCounts))).position,
    later,
    'a projection outside the request keeps its checkpoint',
  )
  t.deepEqual(discarded, [...projections.map(({ name }) => name), 'duty'])
})

test('read models at the end of the log stay, as after every clean stop', async (t) => {
  const store = await logOf(10)
  const head = right(await store.head())
  const documents = await readModelsAt(head)
  const compared = { store, documents, projections: allProjections, duties: ['duty'] }
  right(await refuseOlderLog(compared))
  t.deepEqual(right(await discardNewerThanLog(compared)), [])
  for (const model of [...allProjections.map(modelOf), duty('duty')])
    t.is(right(await documents.checkpoint(model)).position, head)
  t.is(right(await documents.scan('lives', null, 10)).length, 1)
})

test('an older copy of the log that has grown is recognised by the last seen event', async (t) => {
  const seen = await logOf(10)
  const [last] = right(await seen.read('live-10', { direction: 'backwards', limit: 1 }))
  assert.ok(last !== undefined)
  const checkpoint: Checkpoint = {
    position: last.position,
    last: { stream: last.stream, revision: last.revision, id: last.id },
  }
  const grown = await logOf(20)
  t.is(right(await olderLogReason(seen, checkpoint)), null)
  t.regex(right(await olderLogReason(grown, checkpoint)) ?? '', /event 0 of live-10 has another id/)
  t.regex(right(await olderLogReason(await logOf(4), checkpoint)) ?? '', /ends before this checkpoint/)
  const longer: Checkpoint = { ...checkpoint, last: { stream: 'live-10', revision: 3, id: last.id } }
  t.regex(right(await olderLogReason(grown, longer)) ?? '', /live-10 ends before event 3/)
})

test('a stream that lost its first events does not make the log an older copy', async (t) => {
  const store = await logOf(10)
  const [first] = right(await store.read('live-10'))
  assert.ok(first !== undefined)
  await createLive(store, 10, 0)
  right(await store.setMetadata('live-10', { maxCount: 1 }))
  const checkpoint: Checkpoint = { position: first.position, last: { stream: 'live-10', revision: 0, id: first.id } }
  t.is(right(await olderLogReason(store, checkpoint)), null)
})

test('with an older log a start is refused and read models stay; a duty that runs starts again', async (t) => {
  const later = right(await (await logOf(10)).head())
  const [store, documents, logger] = [await logOf(4), await readModelsAt(later), createRecordingLogger()]
  const refused = await refuseOlderLog({ store, documents, projections: allProjections, duties: [] })
  t.like(refused, { left: { _tag: 'OlderLog' } })
  t.regex(
    E.isLeft(refused) && 'reason' in refused.left ? refused.left.reason : '',
    /^lives: .* ends before this checkpoint\. .* stenolog restore --in-place, .* stenolog log take-over$/,
  )
  for (const model of allProjections.map(modelOf)) t.is(right(await documents.checkpoint(model)).position, later)
  const byDuty = await refuseOlderLog({ store, documents, projections: [], duties: ['duty'] })
  t.like(byDuty, { left: { _tag: 'OlderLog' } })
  t.is(right(await dutyCheckpoint({ store, documents, logger })(duty('duty'))).position, BEGINNING)
})

test('an older copy under a running service stops the projections until the newer log returns', async (t) => {
  const [newer, older] = [createMemoryEventStore(), createMemoryEventStore()]
  for (const liveId of [1, 2, 3]) await createLive(newer, liveId)
  for (const liveId of [1, 2, 30, 31, 32]) await createLive(older, liveId)
  let current: EventStore = newer
  let cut = new AbortController()
  const store: EventStore = {
    ...newer,
    head: () => current.head(),
    read: (...request) => current.read(...request),
    subscribe: (from, prefixes, signal) => current.subscribe(from, prefixes, AbortSignal.any([signal, cut.signal])),
  }
  const switchTo = (log: EventStore): void => {
    current = log
    const before = cut
    cut = new AbortController()
    before.abort()
  }
  const documents = createMemoryDocuments()
  const stop = new AbortController()
  const following = {
    store,
    documents,
    logger: createRecordingLogger(),
    environment,
    timers: systemTimers,
    signal: stop.signal,
  }
  const projector = startProjector({ ...following, projections: [lives], leases: SINGLE_PROCESS_LEASES, code: 'test' })
  t.teardown(async () => {
    stop.abort()
    await projector.stopped
  })
  await projector.caughtUp()
  switchTo(older)
  await eventually(() => assert.match(projector.lag()[0]?.error ?? '', /live-3 ends before event 0/))
  t.true(O.isNone(right(await documents.get('lives', '30'))))
  switchTo(newer)
  await projector.whenProjected(SESSION_LISTS, await createLive(newer, 4))
  t.true(O.isSome(right(await documents.get('lives', '4'))))
  t.is(projector.lag()[0]?.error, null)
})
