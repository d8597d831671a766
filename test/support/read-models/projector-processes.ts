import { setImmediate } from 'node:timers/promises'
import type { ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { NO_CHECKPOINT, type Documents } from '../../../application/ports/documents.ts'
import type { EventStore, NewEvent, Position } from '../../../application/ports/event-store.ts'
import type { Timers } from '../../../application/ports/timers.ts'
import type { Projector } from '../../../application/ports/projector.ts'
import { systemTimers } from '../../../infrastructure/process/system-timers.ts'
import { differencesOf, foldLog } from '../../../projections/fold-log.ts'
import type { Projection } from '../../../projections/projection.ts'
import { startProjector } from '../../../projections/projector.ts'
import { createMemoryDocuments } from '../doubles/memory/documents.ts'
import { createMemoryEventStore } from '../doubles/memory/event-store.ts'
import { createMemoryLeases, type MemoryLeases } from '../doubles/memory/leases.ts'
import { right } from '../tools/right.ts'
import { sealedLive } from '../events/stored-events.ts'
import { createRecordingLogger } from '../doubles/loggers.ts'
import { createTestEnvironment } from '../doubles/environment.ts'

const environment = { ...createTestEnvironment(), monotonic: () => performance.now() }

export const newEvent = ({ type, data }: { readonly type: string; readonly data: object }): NewEvent => ({
  id: environment.newId(),
  type,
  data: { ...data },
  metadata: { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: environment.now() },
})

/** Appends the next event of a session: created, then started, then finished, then attached senders. */
export const advanceLive = async (store: EventStore, liveId: number): Promise<Position> => {
  const stream = `live-${liveId}`
  const { length } = right(await store.read(stream))
  const about = { liveId, userId: 1 + (liveId % 3), at: environment.now() }
  const lifecycle = [
    sealedLive(about),
    { type: 'LiveStarted', data: about },
    { type: 'LiveFinished', data: { ...about, reason: 'restart' } },
  ]
  const next = lifecycle[length] ?? { type: 'SenderAttached', data: { ...about, epoch: length, instance: 'i' } }
  return right(await store.append(stream, length === 0 ? 'no-stream' : length - 1, [newEvent(next)])).position
}

/** Holds the requests of a process to its stores, as if the process were frozen. */
const createGate = () => {
  let opened = Promise.resolve()
  let open: (() => void) | null = null
  return {
    /** Waits before the request and before the answer, because a process may freeze after a write took effect. */
    passing: <Args extends ReadonlyArray<unknown>, A>(request: (...args: Args) => Promise<A>) =>
      async (...args: Args): Promise<A> => {
        await opened
        const answer = await request(...args)
        await opened
        return answer
      },
    through: () => opened,
    isClosed: () => open !== null,
    close: (): void => {
      if (open === null) opened = new Promise((resolve) => { open = resolve })
    },
    open: (): void => {
      open?.()
      open = null
    },
  }
}

type Gate = ReturnType<typeof createGate>

/** Commits as on a server: first the documents of all commits, then the checkpoints in another request. */
const inTwoRequests = (documents: Documents, { passing, through }: Gate): Documents => {
  const commitAll: Documents['commitAll'] = async (commits) => {
    await through()
    for (const { changes } of commits)
      right(await documents.commit({ projection: 'none', collection: null }, changes, NO_CHECKPOINT))
    await setImmediate()
    await through()
    return await documents.commitAll(commits.map((commit) => ({ ...commit, changes: [] })))
  }
  return {
    ...documents,
    ensure: passing(documents.ensure),
    find: passing(documents.find),
    checkpoint: passing(documents.checkpoint),
    publishProgress: passing(documents.publishProgress),
    publishedProgress: passing(documents.publishedProgress),
    promote: passing(documents.promote),
    discard: passing(documents.discard),
    commitAll,
    commit: async (whose, changes, checkpoint, token = 0) => {
      const [outcome] = await commitAll([{ whose, changes, checkpoint, token }])
      return outcome ?? E.right(undefined)
    },
  }
}

const throughGate = (store: EventStore, { passing, through }: Gate): EventStore => ({
  ...store,
  head: passing(store.head),
  read: passing(store.read),
  subscribe: async function* (...args) {
    for await (const message of store.subscribe(...args)) {
      await through()
      yield message
    }
  },
})

export interface ProjectorProcess {
  readonly name: string
  readonly projector: Projector
  /** Stops all its requests and takes its leases; the process is not notified. */
  readonly freeze: () => void
  readonly thaw: () => void
  /** Ends the process without notice, as SIGKILL does. */
  readonly kill: () => void
  readonly stop: () => Promise<void>
}

export interface ProjectorProcesses {
  readonly store: ReturnType<typeof createMemoryEventStore>
  readonly documents: Documents
  readonly leases: MemoryLeases
  /** Starts a process. It ends with the test. */
  readonly start: (name: string, options?: ProcessOptions) => ProjectorProcess
  /** Returns the differences between the read models and the log. */
  readonly differences: () => Promise<ReadonlyArray<string>>
}

interface ProcessOptions {
  /** False: the process never requests a lease. */
  readonly requestsLeases?: boolean
  /** The projections of its version. Default: the projections of all processes. */
  readonly ownProjections?: ReadonlyArray<Projection>
}

/**
 * Creates a log, read models and leases in memory, which processes share. `watch` wraps the read models, to observe
 * their requests.
 */
export const createProjectorProcesses = (
  t: Pick<ExecutionContext, 'teardown'>,
  projections: ReadonlyArray<Projection>,
  watch: (documents: Documents) => Documents = (documents) => documents,
): ProjectorProcesses => {
  const [store, plain, leases] = [createMemoryEventStore(), createMemoryDocuments(), createMemoryLeases()]
  const documents = watch(plain)
  const start: ProjectorProcesses['start'] = (name, { requestsLeases = true, ownProjections = projections } = {}) => {
    const stopping = new AbortController()
    const gate = createGate()
    let isDead = false
    const timers: Timers = { after: (...args) => (isDead ? () => undefined : systemTimers.after(...args)) }
    const projector = startProjector({
      store: throughGate(store, gate), documents: inTwoRequests(documents, gate), projections: ownProjections,
      leases: requestsLeases ? leases.of(name) : null, code: 'test',
      logger: createRecordingLogger(), environment, timers, signal: stopping.signal,
    })
    const stop = async (): Promise<void> => {
      if (isDead) return
      gate.open()
      stopping.abort()
      await projector.stopped
    }
    t.teardown(stop)
    const freeze = (): void => {
      gate.close()
      leases.freeze(name)
    }
    return {
      name, projector, freeze, stop,
      thaw: () => {
        gate.open()
        // The process continues its work before it learns that it lost its leases.
        setTimeout(() => {
          if (!gate.isClosed()) leases.thaw(name)
        }, 10)
      },
      kill: () => {
        isDead = true
        freeze()
      },
    }
  }
  const differences = async (): Promise<ReadonlyArray<string>> => {
    const found: Array<string> = []
    const to = right(await store.head())
    for (const projection of projections) {
      const fresh = createMemoryDocuments()
      const { name: collection } = projection.collection
      right(await fresh.ensure([projection.collection]))
      right(await documents.ensure([projection.collection]))
      const { signal } = new AbortController()
      await foldLog({ store, documents: fresh }, projection, { from: NO_CHECKPOINT, to, signal })
      const sides = [{ documents, collection }, { documents: fresh, collection }] as const
      for await (const { id, kind } of differencesOf(...sides)) found.push(`${projection.name} ${id} ${kind}`)
    }
    return found
  }
  return { store, documents, leases, start, differences }
}
