import type { ExecutionContext } from 'ava'
import { v7 } from 'uuid'
import { sealEvents } from '../../../application/log/event-serialization.ts'
import type { LiveCreated } from '../../../domain/live/events.ts'
import type { EventOf } from '../../../domain/shared/event.ts'
import { systemTimers } from '../../../infrastructure/process/system-timers.ts'
import { liveCreated } from '../../support/events/sample-events.ts'
import { createMemoryEventStore } from '../../support/doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../../support/doubles/memory/keyring.ts'
import { right } from '../../support/tools/right.ts'
import { createTestEnvironment } from '../../support/doubles/environment.ts'
import { createWorker, type WorkerStores } from './worker-world.ts'
import { callerOf } from '../../support/worlds/write-side.ts'

export const URL_LIVE = { audioFormat: 'hls', audioUrl: 'http://radio.example/live', autoStart: true } as const
/** The caller who creates all sessions. */
export const me = callerOf(1)

export const stores = (): WorkerStores => ({
  store: createMemoryEventStore(),
  keyring: createMemoryKeyring(),
  timers: systemTimers,
  environment: createTestEnvironment(),
})

/** Starts worker `w1` on these stores and closes it after the test. */
export const startWorker = async (
  t: ExecutionContext,
  shared: WorkerStores,
  options: Partial<Parameters<typeof createWorker>[0]> = {},
) => {
  const worker = await createWorker({
    ...shared,
    environment: createTestEnvironment(),
    worker: 'w1',
    vram: 100,
    ...options,
  })
  t.teardown(worker.close)
  await worker.start()
  return worker
}

/** Appends an event as another process would. */
export const appendElsewhere = async (
  { store, keyring }: WorkerStores,
  stream: string,
  type: string,
  data: object,
): Promise<void> => {
  const metadata = { correlationId: 'c', causationId: v7(), actor: 'tool', recordedAt: createTestEnvironment().now() }
  const sealed = right(await sealEvents(keyring, stream)([{ type, data }]))
  right(await store.append(stream, 'any', sealed.map((event) => ({ ...event, id: v7(), metadata }))))
}

export const created = (changes: Partial<EventOf<typeof LiveCreated>['data']>) =>
  liveCreated({ worker: 'w1', vram: 1, ...changes }).data
export const admitted = {
  liveId: 7,
  userId: 3,
  worker: 'w1',
  vram: 1,
  needs: [],
  instance: 'tool',
  commandId: 'create-7',
  at: created({}).at,
}
export const finished = { liveId: 7, userId: 3, at: created({}).at, reason: 'finish_route' }

export const typesOf = async ({ store }: WorkerStores, stream: string): Promise<ReadonlyArray<string>> =>
  right(await store.read(stream)).map(({ type }) => type)
