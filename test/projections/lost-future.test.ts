import test from 'ava'
import { BEGINNING } from '../../application/ports/event-store.ts'
import type { Position } from '../../application/ports/event-store.ts'
import { allProjections } from '../../projections/all-projections.ts'
import { discardLostFuture } from '../../projections/rebuild/lost-future.ts'
import { createMemoryDocuments } from '../support/memory-documents.ts'
import { createMemoryEventStore } from '../support/memory-event-store.ts'
import { right, sealedLive } from '../support/projecting.ts'
import { createRecordingLogger } from '../support/recording-logger.ts'
import { createTestEnvironment } from '../support/test-environment.ts'

const environment = createTestEnvironment()
const metadata = { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: environment.now() }

/** A log of some lives. */
const logOf = async (count: number) => {
  const store = createMemoryEventStore()
  for (let liveId = 1; liveId <= count; liveId++) {
    const { type, data } = sealedLive({ liveId, userId: 1, at: environment.now() })
    right(await store.append(`live-${liveId}`, 'no-stream', [{ id: environment.newId(), type, data: { ...data }, metadata }])())
  }
  return store
}

/** Read models that stand at a position, as far as their checkpoints tell, with a document each. */
const standingAt = async (position: Position) => {
  const documents = createMemoryDocuments()
  for (const { name, collection } of allProjections) {
    right(await documents.ensure([collection])())
    const change = { kind: 'put', collection: collection.name, id: '1', document: { id: 1 }, position } as const
    right(await documents.commit(name, [change], position)())
  }
  right(await documents.commit('duty', [], position)())
  return documents
}

test('what stands past the end of the log is discarded, all else stays', async (t) => {
  const later = right(await (await logOf(10)).head()())
  const [store, documents, logger] = [await logOf(4), await standingAt(later), createRecordingLogger()]
  const projections = allProjections.filter(({ name }) => name !== 'live-counts')
  right(await discardLostFuture({ store, documents, projections, duties: ['duty'], logger })())
  t.is(right(await documents.checkpoint('lives')()), BEGINNING)
  t.is(right(await documents.checkpoint('duty')()), BEGINNING)
  t.is(right(await documents.checkpoint('live-counts')()), later, 'not asked for')
  t.deepEqual(logger.lines.map(({ fields }) => fields['projection']), [...projections.map(({ name }) => name), 'duty'])
})

test('what stands at the very end of the log, as after every clean stop, stays', async (t) => {
  const store = await logOf(10)
  const head = right(await store.head()())
  const [documents, logger] = [await standingAt(head), createRecordingLogger()]
  right(await discardLostFuture({ store, documents, projections: allProjections, duties: ['duty'], logger })())
  for (const name of [...allProjections.map((one) => one.name), 'duty']) t.is(right(await documents.checkpoint(name)()), head)
  t.is(right(await documents.scan('lives', null, 10)()).length, 1)
  t.deepEqual(logger.lines, [])
})
