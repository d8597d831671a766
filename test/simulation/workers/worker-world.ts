import * as E from 'fp-ts/lib/Either.js'
import { createAdmissionActor } from '../../../application/admission/admission-actor.ts'
import type { CandidatesFor } from '../../../application/admission/candidates.ts'
import { joinWorker } from '../../../application/admission/join-worker.ts'
import { drainWorker } from '../../../application/running/drain-worker.ts'
import { rejoinWorker } from '../../../application/admission/rejoin-worker.ts'
import { watchWorkers } from '../../../application/admission/watch-workers.ts'
import type { Environment, Logger } from '../../../application/ports/environment.ts'
import type { EventStore } from '../../../application/ports/event-store.ts'
import type { Keyring } from '../../../application/ports/keyring.ts'
import type { Members } from '../../../application/ports/members.ts'
import type { Timers } from '../../../application/ports/timers.ts'
import { createLiveBus } from '../../../application/pipeline/live-bus.ts'
import { createLiveSessions } from '../../../application/running/live-sessions.ts'
import { liveLifecycle } from '../../../application/running/live-lifecycle.ts'
import { runLives } from '../../../application/running/run-lives.ts'
import type { Offering } from '../../../domain/admission/placement.ts'
import { embeddedMembers } from '../../../infrastructure/embedded-members.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'
import { right } from '../../support/tools/right.ts'
import { createScriptedPipelines, type PipelineScript } from '../../support/doubles/scripted/pipeline.ts'
import { createScriptedPullers } from '../../support/doubles/scripted/puller.ts'
import { PROFILE } from '../../support/worlds/members-world.ts'
import { writeSideOf } from '../../support/worlds/write-side.ts'

const NO_TRANSLATIONS = {
  ofLive: () => ({
    prepare: () => undefined,
    add: () => undefined,
    settled: async () => undefined,
    stop: () => undefined,
  }),
}

export interface WorkerStores {
  readonly store: EventStore
  readonly keyring: Keyring
  readonly timers: Timers
  readonly environment: Environment
}

interface WorkerOptions extends WorkerStores {
  readonly worker: string
  /** In megabytes. */
  readonly vram: number
  readonly reconnectGrace?: number
  readonly script?: PipelineScript
  /** Replaces the recording logger. */
  readonly logger?: Logger
  /** The members of the test: a lost worker is removed, and a removed worker joins again. */
  readonly members?: Members
  /** False: the test itself removes lost workers. */
  readonly watches?: false
  /** The models of the workers, as far as this process knows. */
  readonly offering?: () => Offering | undefined
  readonly takeoverGrace?: number
  readonly knowsRestart?: () => boolean
  /** Replaces the default candidates, which are all joined workers. */
  readonly candidates?: CandidatesFor
  readonly drainTimeout?: number
  readonly hasSockets?: boolean
  readonly whenProjected?: () => Promise<void>
  /** Replaces the subscription of `runLives`. */
  readonly subscribe?: EventStore['subscribe']
}

/** Composes a worker like the service, with scripted pipelines and pullers. `start` joins and follows the log. */
export const createWorker = async (options: WorkerOptions) => {
  const { store, worker, vram, environment, timers, script } = options
  const recorded = createRecordingLogger()
  const { logger = recorded } = options
  const admission = await createAdmissionActor({ ...options, logger })
  const candidates =
    options.candidates ?? (() => admission.state().workers.map(({ worker }) => ({ worker, rank: 0 })))
  const side = writeSideOf({ ...options, candidates }, admission)
  const deps = { ...side.deps, worker: { name: worker, incarnation: environment.instance } }
  const bus = createLiveBus({ logger })
  const pipelines = createScriptedPipelines(script)
  const pullers = createScriptedPullers()
  const sessions = createLiveSessions({
    lifecycle: liveLifecycle(deps), createPipeline: pipelines.create, startPuller: pullers.start,
    translations: NO_TRANSLATIONS, bus, logger, environment, timers,
    reconnectGrace: options.reconnectGrace ?? 0,
  })
  const self = { name: worker, incarnation: environment.instance }
  const { members } = options
  const following = { admission, environment, timers, logger, vram }
  const rejoining = members && rejoinWorker({ ...following, members })
  const drain = drainWorker({
    ...following, members: members ?? embeddedMembers(self, PROFILE), sessions, rejoining: rejoining ?? null,
    drainTimeout: options.drainTimeout ?? 0, hasSockets: options.hasSockets ?? false,
  })
  const watching = members && options.watches !== false && watchWorkers({ ...following, members })
  const followedStore = { ...store, subscribe: options.subscribe ?? store.subscribe }
  const running = runLives({
    ...deps,
    store: followedStore,
    runs: sessions.runs,
    takeoverGrace: options.takeoverGrace ?? 0,
    logger,
    onLost: () => rejoining?.left(),
  })
  const join = () =>
    joinWorker({ admission, environment, knowsRestart: options.knowsRestart ?? (() => true) }, self, vram)
  return {
    side: { ...side, deps: { ...deps, endByWorker: sessions.endByWorker } },
    admission, bus, logger: recorded, pipelines, pullers, sessions, running, join, drain,
    start: async (): Promise<void> => {
      right(await join())
      right(await running.start())
    },
    close: async (): Promise<void> => {
      if (watching) await watching.stop()
      await rejoining?.stop()
      await running.stop()
      await sessions.close()
    },
    attach: async (liveId: number) => {
      const attached = await sessions.attachSender(liveId)
      if (E.isLeft(attached)) throw new Error(attached.left._tag)
      return attached.right
    },
  }
}
