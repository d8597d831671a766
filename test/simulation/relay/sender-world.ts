import * as E from 'fp-ts/lib/Either.js'
import type { EndCause } from '../../../domain/live/events.ts'
import { createLiveBus } from '../../../application/pipeline/live-bus.ts'
import { createLivePipeline } from '../../../application/pipeline/live-pipeline.ts'
import type { CreatePipeline } from '../../../application/pipeline/pipeline.ts'
import { createScheduler } from '../../../application/pipeline/scheduler.ts'
import type { Member } from '../../../application/ports/members.ts'
import { ownTerm } from '../../../application/lives/ownership/own-sessions.ts'
import { createLiveSessions } from '../../../application/running/live-sessions.ts'
import { createRecentFinals } from '../../../application/running/recent-finals.ts'
import { withLocalWorker } from '../../../application/running/relay/local-links.ts'
import { createRemoteLives, type RemoteLives } from '../../../application/running/relay/remote-lives.ts'
import { serveLinks } from '../../../application/running/relay/serve-links.ts'
import { createPlacements } from '../../../application/running/relay/placements.ts'
import { initialState, type AdmissionState, type Reservation } from '../../../domain/admission/state.ts'
import type { SegmentFinalised } from '../../../domain/transcript/events.ts'
import { createHub } from '../../../interfaces/ws/listeners/caption-hub.ts'
import { placeRemotely } from '../../../interfaces/ws/relay/remote-placement.ts'
import { createWorkerSenders } from '../../../interfaces/ws/relay/worker-senders.ts'
import { createManualTimers } from '../../support/doubles/manual-timers.ts'
import { createMemoryLinks } from '../../support/doubles/memory/links.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'
import { scriptedEngine } from '../../support/doubles/scripted/engine.ts'
import type { ScriptedWord } from '../../support/doubles/scripted/script.ts'
import { createScriptedPullers } from '../../support/doubles/scripted/puller.ts'
import { promptTranslations } from '../../support/worlds/prompt-translations.ts'
import { createRemoteClient } from '../../unit/interfaces/ws/relay/remote-client.ts'
import { UNAVAILABLE, createSimulatedLifecycle, turn, type SimulatedStore } from './sender-lifecycle.ts'

export const LIVE = 1
/** A message between two processes takes several turns of the event loop. */
const TURNS = 8

interface SenderWorldOptions {
  /** The words of the scripted audio. */
  readonly words?: ReadonlyArray<ScriptedWord>
  /** Replaces the real pipelines. */
  readonly createPipeline?: CreatePipeline
  readonly reconnectGrace?: number
  readonly takeoverGrace?: number
  readonly maxKeptBytes?: number
}

/** Creates one session, the workers that run it one after another, and processes with the sockets of senders. */
export const createSenderWorld = ({
  words = [], reconnectGrace = 0, takeoverGrace = 60_000, ...options
}: SenderWorldOptions = {}) => {
  const timers = createManualTimers()
  const logger = createRecordingLogger()
  const network = createMemoryLinks({ timers })
  const environment = { random: () => 0.5, monotonic: timers.monotonic }
  const log: Array<SegmentFinalised['data']> = []
  const store: SimulatedStore = { isUnavailable: false, fence: 1, status: 'pending', epoch: 0 }
  const ends: Array<EndCause> = []
  const apis: Array<{ readonly remote: RemoteLives }> = []
  let workers: Array<ReturnType<typeof createWorker>> = []
  const members: Array<Member> = []
  let admission: AdmissionState = initialState
  let ids = 0

  const refresh = async () => (store.isUnavailable ? UNAVAILABLE : E.right(admission))
  const view = { state: () => admission, refresh }

  const onEnd = (cause: EndCause): void => {
    ends.push(cause)
    admission = { ...admission, open: [] }
    for (const worker of workers) worker.sessions.runs.ended(LIVE, cause)
    for (const api of apis) api.remote.ended(LIVE, cause)
  }
  const lifecycleOf = createSimulatedLifecycle({ log, store, admission: view, onEnd })

  const createWorker = (name: string) => {
    ids += 1
    const self = { name, incarnation: `run ${ids} of ${name}` }
    const bus = createLiveBus({ logger })
    const engine = scriptedEngine({ words, hasWordTimes: true })
    const scheduler = createScheduler(engine, timers.monotonic)
    const createPipeline =
      options.createPipeline ?? createLivePipeline({ engine, scheduler, monotonic: timers.monotonic, timers })
    const sessions = createLiveSessions({
      lifecycle: lifecycleOf(self),
      createPipeline,
      translations: promptTranslations(),
      startPuller: createScriptedPullers().start,
      bus,
      logger,
      environment,
      timers,
      reconnectGrace,
    })
    const served = serveLinks({
      admission: view,
      worker: self,
      bus,
      recent: sessions.recent,
      logger,
      runs: sessions.runs,
      endByWorker: sessions.endByWorker,
      senders: createWorkerSenders({
        sessions,
        takeoverGrace,
        rateLimits: true,
        idleTimeout: 0,
        environment,
        timers,
        logger,
      }),
      takeOver: async (_, term) => {
        if (store.isUnavailable) return UNAVAILABLE
        if (store.fence > term) return E.left({ _tag: 'Superseded' })
        store.fence = term
        return E.right({ state: { status: 'active' } })
      },
    })
    const { peer } = network.serve(self, served)
    members.splice(members.findIndex((member) => member.name === name) >>> 0, 1)
    members.push({
      ...self,
      state: 'up',
      address: peer.address,
      offers: null,
      logAnswers: true,
      lives: [],
      jobs: null,
      roles: ['worker'],
      version: '1',
      speaks: { log: 1, relay: 1 },
    })
    const worker = {
      name, self, served, sessions,
      /** Drops the session when it has moved to another worker. In the product `run-lives.ts` does this. */
      settle: (): void => {
        const term = ownTerm({ admission: view, worker: self }, LIVE)
        const own = sessions.runs.termOf(LIVE)
        if (term === null || (own !== null && own < term)) sessions.runs.drop(LIVE)
        served.placementChanged()
      },
    }
    workers = [...workers.filter((worker) => worker.name !== name), worker]
    return worker
  }

  /** Creates a process with sockets, which may also be a worker. */
  const createApi = (name: string, own: ReturnType<typeof createWorker> | null = null) => {
    const self = own?.self ?? { name, incarnation: `run of ${name}` }
    const placements = createPlacements({ admission: view, members: { self, all: () => members } })
    const networkLinks = network.linksOf(name)
    const links =
      own === null
        ? networkLinks
        : withLocalWorker(networkLinks, { incarnation: self.incarnation, handler: own.served })
    const recent = createRecentFinals(timers)
    const { storedFinals } = lifecycleOf(self)
    const remote = createRemoteLives({
      links, placements, environment, timers, logger, storedFinals, recent, bus: createLiveBus({ logger }),
    })
    const hub = createHub({ bus: remote.bus, strict: false })
    const place = placeRemotely({
      links: remote, timers, logger, environment: { newId: () => `sender ${(ids += 1)}` },
      ...(options.maxKeptBytes !== undefined && { maxKeptBytes: options.maxKeptBytes }),
    })
    const shared = { environment, timers, rateLimits: true, idleTimeout: 0 }
    const api = { name, remote, hub, connect: () => createRemoteClient({ hub, place, shared, liveId: LIVE }) }
    apis.push(api)
    return api
  }

  const publishPlacement = (): void => {
    for (const worker of workers) worker.settle()
    for (const { remote } of apis) remote.placementChanged()
  }

  return {
    timers, logger, network, log, store, ends, createWorker, createApi,
    workers: () => workers,
    join: (): void => {
      admission = {
        ...admission,
        workers: workers.map(({ self }) => ({
          worker: self.name,
          incarnation: self.incarnation,
          vram: 10,
          isDraining: false,
        })),
      }
    },
    /** Assigns the session to this worker and informs all processes. */
    place: (worker: string | null): void => {
      const term = (admission.open[0]?.term ?? 0) + 1
      const held: Reservation = {
        liveId: LIVE,
        worker,
        term,
        userId: 1,
        vram: 1,
        at: '2026-01-01T00:00:00.000000+00:00',
        needs: [],
        instance: 'i',
      }
      admission = { ...admission, open: [held] }
      publishPlacement()
    },
    placedOn: () => admission.open[0]?.worker ?? null,
    turns: async (count = TURNS): Promise<void> => {
      for (let n = 0; n < count; n += 1) await turn()
    },
    pass: async (ms: number): Promise<void> => {
      for (let left = ms; left > 0; left -= 100) {
        timers.advance(Math.min(100, left))
        for (let n = 0; n < TURNS; n += 1) await turn()
      }
    },
    close: async (): Promise<void> => {
      for (const { remote } of apis) remote.close()
      await Promise.all(workers.map(({ sessions }) => sessions.close()))
    },
  }
}

export type SenderWorld = ReturnType<typeof createSenderWorld>
