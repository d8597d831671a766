import { type ExecutionContext } from 'ava'
import * as O from 'fp-ts/lib/Option.js'
import type { Documents } from '../../../application/ports/documents.ts'
import type { EventStore, NewEvent, Position } from '../../../application/ports/event-store.ts'
import type { Timers } from '../../../application/ports/timers.ts'
import { systemTimers } from '../../../infrastructure/process/system-timers.ts'
import { allProjections } from '../../../projections/all-projections.ts'
import type { Projection } from '../../../projections/projection.ts'
import { startProjector } from '../../../projections/projector.ts'
import { SINGLE_PROCESS_LEASES } from '../../support/worlds/single-process-leases.ts'
import { createMemoryDocuments } from '../../support/doubles/memory/documents.ts'
import { createMemoryEventStore } from '../../support/doubles/memory/event-store.ts'
import { right } from '../../support/tools/right.ts'
import { sealedLive } from '../../support/events/stored-events.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'
import { createTestEnvironment } from '../../support/doubles/environment.ts'

export const environment = createTestEnvironment()

export const unavailable = { _tag: 'DocumentsUnavailable' as const, reason: 'the test stopped the documents' }

interface Parts {
  readonly store?: EventStore
  readonly documents?: Documents
  readonly projections?: ReadonlyArray<Projection>
  readonly environment?: typeof environment
  readonly timers?: Timers
}

/** Starts a projector over memory stores. It stops after the test. */
export const start = (t: ExecutionContext, parts: Parts = {}) => {
  const { store = createMemoryEventStore(), documents = createMemoryDocuments(), projections = allProjections } = parts
  const stop = new AbortController()
  const logger = createRecordingLogger()
  const projector = startProjector({
    environment,
    timers: systemTimers,
    ...parts,
    store,
    documents,
    projections,
    leases: SINGLE_PROCESS_LEASES,
    code: 'test',
    logger,
    signal: stop.signal,
  })
  t.teardown(async () => {
    stop.abort()
    await projector.stopped
  })
  return { store, documents, projector, logger, stop }
}

export const newEvent = ({ type, data }: { readonly type: string; readonly data: object }): NewEvent => ({
  id: environment.newId(),
  type,
  data: { ...data },
  metadata: { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: environment.now() },
})

/** Appends a created session and returns its position. */
export const create = async (store: EventStore, liveId: number, userId = 3): Promise<Position> =>
  right(await store.append(`live-${liveId}`, 'no-stream', [newEvent(sealedLive({ liveId, userId }))])).position

export const hasLive = async (documents: Documents, liveId: number): Promise<boolean> =>
  O.isSome(right(await documents.get('lives', String(liveId))))
