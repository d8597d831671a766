import type { ExecutionContext } from 'ava'
import { NO_CHECKPOINT, type Documents } from '../../../application/ports/documents.ts'
import { BEGINNING, type EventStore, type NewEvent, type Position } from '../../../application/ports/event-store.ts'
import { systemTimers } from '../../../infrastructure/node/system-timers.ts'
import { allProjections } from '../../../projections/all-projections.ts'
import { differencesOf, foldLog } from '../../../projections/fold-log.ts'
import { startProjector } from '../../../projections/projector.ts'
import { SINGLE_PROCESS_LEASES } from '../../support/worlds/single-process-leases.ts'
import { createMemoryDocuments } from '../../support/doubles/memory/documents.ts'
import { right } from '../../support/tools/right.ts'
import { sealedLive } from '../../support/events/stored-events.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'
import { createTestEnvironment } from '../../support/doubles/environment.ts'

export const environment = createTestEnvironment()

export const newEvent = ({ type, data }: { readonly type: string; readonly data: object }): NewEvent => ({
  id: environment.newId(),
  type,
  data: { ...data },
  metadata: { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: environment.now() },
})

/** Appends created sessions; every second session has also ended. Returns the highest position. */
export const createLives = async (store: EventStore, from: number, count: number): Promise<Position> => {
  const appended = await Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const liveId = from + n
      const data = { liveId, userId: 1 + (liveId % 3), at: environment.now() }
      const ended = liveId % 2 === 0 ? [newEvent({ type: 'LiveFinished', data: { ...data, reason: 'restart' } })] : []
      return right(await store.append(`live-${liveId}`, 'no-stream', [newEvent(sealedLive(data)), ...ended]))
        .position
    }),
  )
  return appended.toSorted().at(-1) ?? BEGINNING
}

/** Runs the projections until the end of the test. */
export const serve = (t: ExecutionContext, store: EventStore, documents: Documents) => {
  const stop = new AbortController()
  const logger = createRecordingLogger()
  const projector = startProjector({
    store,
    documents,
    projections: allProjections,
    leases: SINGLE_PROCESS_LEASES,
    code: 'test',
    logger,
    environment,
    timers: systemTimers,
    signal: stop.signal,
  })
  t.teardown(async () => {
    stop.abort()
    await projector.stopped
  })
  return { projector, logger }
}

/** Compares every read model with a new fold of the log. */
export const differences = async (store: EventStore, documents: Documents): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  const to = right(await store.head())
  for (const projection of allProjections) {
    const fresh = createMemoryDocuments()
    const { name: collection } = projection.collection
    right(await fresh.ensure([projection.collection]))
    await foldLog({ store, documents: fresh }, projection, {
      from: NO_CHECKPOINT,
      to,
      signal: new AbortController().signal,
    })
    for await (const { id, kind } of differencesOf({ documents, collection }, { documents: fresh, collection }))
      found.push(`${collection} ${id} ${kind}`)
  }
  return found
}

/** Reads the newest sessions of user 1. */
export const page = (documents: Documents, limit: number) =>
  documents.page('lives', { filter: { userId: 1 }, sort: { by: 'id', direction: 'descending' }, skip: 0, limit })
