import assert from 'node:assert/strict'
import type { ExecutionContext } from 'ava'
import type { Either } from 'fp-ts/lib/Either.js'
import { NO_CHECKPOINT, type Documents } from '../../../application/ports/documents.ts'
import { BEGINNING, type EventStore, type NewEvent, type Position } from '../../../application/ports/event-store.ts'
import type { Rebuilt } from '../../../application/ports/projector.ts'
import { systemTimers as timers } from '../../../infrastructure/node/system-timers.ts'
import { differencesOf, foldLog } from '../../../projections/fold-log.ts'
import { stagedOf } from '../../../projections/rebuild/unfinished-rebuild.ts'
import { lives } from '../../../projections/lives/projection.ts'
import { rebuildReadModel, type RebuildDeps } from '../../../projections/rebuild/rebuild.ts'
import { createMemoryDocuments } from '../doubles/memory/documents.ts'
import { createMemoryEventStore } from '../doubles/memory/event-store.ts'
import { right } from '../tools/right.ts'
import { sealedLive } from '../events/stored-events.ts'
import { createTestEnvironment } from '../doubles/environment.ts'
import { modelOf } from '../../../projections/projection.ts'

/** The events of the log: more than three steps of a rebuild. */
export const EVENTS = 7000
const environment = createTestEnvironment()
export const neverAborted = new AbortController().signal
const metadata = { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: environment.now() }

export const createLive = async (store: EventStore, liveId: number): Promise<Position> => {
  const { type, data } = sealedLive({ liveId, userId: 1, at: environment.now() })
  const event: NewEvent = { id: environment.newId(), type, data: { ...data }, metadata }
  return right(await store.append(`live-${liveId}`, 'no-stream', [event])).position
}

export interface RebuildWorld {
  readonly store: EventStore
  readonly documents: Documents
}

/** Creates a log and a read model that is up to date. */
export const createFilledWorld = async (documents = createMemoryDocuments()): Promise<RebuildWorld> => {
  const store = createMemoryEventStore()
  for (let liveId = 1; liveId <= EVENTS; liveId++) await createLive(store, liveId)
  right(await documents.ensure([lives.collection]))
  const to = right(await store.head())
  await foldLog({ store, documents }, lives, { from: NO_CHECKPOINT, to, signal: neverAborted })
  return { store, documents }
}

type RebuildOptions = Partial<Pick<RebuildDeps, 'code' | 'signal' | 'onProgress'>>

/** Rebuilds the read model of sessions. */
export const rebuild = (
  { store, documents }: RebuildWorld,
  { code = 'one', signal = neverAborted, onProgress = () => undefined }: RebuildOptions = {},
): Promise<Either<string, Rebuilt>> =>
  rebuildReadModel({
    store,
    documents,
    projection: lives,
    code,
    environment: { monotonic: () => 0, random: () => 0 },
    timers,
    positionInUse: async () => right(await documents.checkpoint(modelOf(lives))).position,
    exclusively: (run) => run(),
    signal,
    onProgress,
  })

/** Checks that the read model equals the log and that nothing is left of a rebuild. */
export const assertRebuilt = async (t: ExecutionContext, { store, documents }: RebuildWorld): Promise<void> => {
  const fresh = createMemoryDocuments()
  right(await fresh.ensure([lives.collection]))
  const head = right(await store.head())
  await foldLog({ store, documents: fresh }, lives, { from: NO_CHECKPOINT, to: head, signal: neverAborted })
  const found: Array<string> = []
  const [actual, expected] = [documents, fresh].map((side) => ({ documents: side, collection: 'lives' }))
  assert.ok(actual !== undefined && expected !== undefined)
  for await (const { id, kind } of differencesOf(actual, expected)) found.push(`${id} ${kind}`)
  t.deepEqual(found, [])
  t.is(right(await documents.checkpoint(modelOf(lives))).position, right(await store.head()))
  t.is(right(await documents.checkpoint(modelOf(stagedOf(lives)))).position, BEGINNING)
}
