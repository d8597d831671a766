import * as E from 'fp-ts/lib/Either.js'
import { createLiveBus } from '../../../application/pipeline/live-bus.ts'
import { createLivePipeline } from '../../../application/pipeline/live-pipeline.ts'
import type { CreatePipeline } from '../../../application/pipeline/pipeline.ts'
import { createScheduler } from '../../../application/pipeline/scheduler.ts'
import type { EndCause } from '../../../application/pipeline/signals.ts'
import type { Member } from '../../../application/ports/peers/members.ts'
import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import { ownTerm } from '../../../application/lives/terms/worker.ts'
import { createLiveSessions } from '../../../application/sessions/live-sessions.ts'
import type { LiveLifecycle } from '../../../application/sessions/live-lifecycle.ts'
import { createRecentFinals } from '../../../application/sessions/recent-finals.ts'
import { withLocalWorker } from '../../../application/sessions/relay/local-links.ts'
import { createRemoteLives } from '../../../application/sessions/relay/remote-lives.ts'
import type { RemoteLives } from '../../../application/sessions/relay/remote-lives.ts'
import { serveLinks } from '../../../application/sessions/relay/serve-links.ts'
import { createPlacements } from '../../../application/sessions/relay/placements.ts'
import { initialState } from '../../../domain/admission/state.ts'
import type { AdmissionState, Reservation } from '../../../domain/admission/state.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../../../domain/live/settings.ts'
import type { SegmentFinalised } from '../../../domain/transcript/events.ts'
import { createHub } from '../../../interfaces/ws/listeners/hub.ts'
import { placeRemotely } from '../../../interfaces/ws/relay/remote-placement.ts'
import { createWorkerSenders } from '../../../interfaces/ws/relay/worker-senders.ts'
import { createManualTimers } from '../../support/doubles/manual-timers.ts'
import { createMemoryLinks } from '../../support/doubles/memory/links.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'
import { scriptedEngine } from '../../support/doubles/scripted/engine.ts'
import type { ScriptedWord } from '../../support/doubles/scripted/script.ts'
import { createScriptedPullers } from '../../support/doubles/scripted/puller.ts'
import { promptTranslations } from '../../support/worlds/prompt-translations.ts'
import { createRemoteClient } from '../../unit/relay/remote-client.ts'

export const LIVE = 1
const AWAY = E.left({ _tag: 'StoreUnavailable', reason: 'away' } as const)
/** What passes in between takes several turns of the loop. */
const TURNS = 8

interface SenderWorldOptions {
  /** What the engine hears in audio made of these. */
  readonly words?: ReadonlyArray<ScriptedWord>
  /** In place of real pipelines. */
  readonly createPipeline?: CreatePipeline
  readonly reconnectGrace?: number
  readonly takeoverGrace?: number
  readonly maxKeptBytes?: number
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** A live that workers run one after another, as admission says, with real pipelines, and processes with senders' sockets. */
export const createSenderWorld = ({
  words = [], reconnectGrace = 0, takeoverGrace = 60_000, ...options
}: SenderWorldOptions = {}) => {
  const timers = createManualTimers()
  const logger = createRecordingLogger()
  const network = createMemoryLinks({ timers })
  const environment = { random: () => 0.5, monotonic: timers.monotonic }
  const log: Array<SegmentFinalised['data']> = []
  const store = { isAway: false, fence: 1, status: 'pending' as 'pending' | 'active' | 'finished', epoch: 0 }
  const ends: Array<EndCause> = []
  const apis: Array<{ readonly remote: RemoteLives }> = []
  let workers: Array<ReturnType<typeof createWorker>> = []
  const members: Array<Member> = []
  let admission: AdmissionState = initialState
  let ids = 0

  const refresh = async () => (store.isAway ? AWAY : E.right(admission))
  const view = { state: () => admission, refresh }

  const pointOf = () => {
    const last = log.at(-1)
    return {
      sampleOffset: Math.ceil((last?.end ?? 0) * SAMPLE_RATE),
      nextSegment: (last?.segment ?? 0) + 1,
      mediaSequence: null,
    }
  }

  const lifecycleOf = (worker: { readonly name: string; readonly incarnation: string }): LiveLifecycle => {
    const write = (term: number, act: () => void) => async () => {
      await turn()
      if (store.isAway) return AWAY
      if (store.fence > term) return E.left({ _tag: 'Superseded' } as const)
      act()
      return E.right(undefined)
    }
    return {
      resolveToken: () => () => Promise.reject(new Error('no tokens here')),
      attachSender: (liveId) => async () => {
        await turn()
        if (store.isAway) return AWAY
        if (store.status === 'finished') return E.left({ _tag: 'LiveOver' } as const)
        const term = ownTerm({ admission: view, worker }, liveId)
        if (term === null || store.fence > term) return E.left({ _tag: 'Superseded' } as const)
        store.fence = term
        store.epoch += 1
        return E.right({
          point: pointOf(),
          live: {
            epoch: store.epoch,
            term,
            userId: 1,
            status: store.status,
            model: 'scripted',
            language: 'en',
            translations: [],
            audioFormat: 'raw',
            audioUrl: null,
            autoStart: false,
            config: DEFAULT_ENGINE_SETTINGS,
            vocabulary: {},
          },
        })
      },
      detachSender: (_, { term }) => write(term, () => undefined),
      startLive: (_, term) => write(term, () => { store.status = 'active' }),
      startSource: () => () => Promise.reject(new Error('no sources here')),
      changeVocabulary: (_, { term }) => write(term, () => undefined),
      recordSegment: (segment) => write(segment.term ?? 1, () => void log.push(segment)),
      storedFinals: () => async () => {
        let isRead = false
        return E.right({
          wanted: () => true,
          next: async () => {
            if (isRead) return E.right(null)
            isRead = true
            return E.right(log.map((segment) => ({ ...segment, final: true, term: segment.term ?? 1 })))
          },
        })
      },
      endLive: (_, { term, cause }) => async () => {
        await turn()
        if (store.isAway) return AWAY
        if (store.fence > term) return E.left({ _tag: 'Superseded' } as const)
        if (store.status !== 'finished') {
          store.status = 'finished'
          ends.push(cause)
          admission = { ...admission, open: [] }
          for (const worker of workers) worker.sessions.runs.ended(LIVE, cause)
          for (const api of apis) api.remote.ended(LIVE, cause)
        }
        return E.right(null)
      },
    }
  }

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
      checkSender: () => undefined,
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
      takeOver: (_, term) => async () => {
        if (store.isAway) return AWAY
        if (store.fence > term) return E.left({ _tag: 'Superseded' })
        store.fence = term
        return E.right({ state: { status: 'active' } })
      },
    })
    const { peer } = network.serve(self, served)
    members.splice(members.findIndex((one) => one.name === name) >>> 0, 1)
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
      /** As `run-lives.ts` does. */
      settle: (): void => {
        const term = ownTerm({ admission: view, worker: self }, LIVE)
        const own = sessions.runs.termOf(LIVE)
        if (term === null || (own !== null && own < term)) sessions.runs.drop(LIVE)
        served.placementChanged()
      },
    }
    workers = [...workers.filter((one) => one.name !== name), worker]
    return worker
  }

  /** A process with sockets, which may be a worker as well. */
  const createApi = (name: string, own: ReturnType<typeof createWorker> | null = null) => {
    const self = own?.self ?? { name, incarnation: `run of ${name}` }
    const where = createPlacements({ admission: view, members: { self, all: () => members } })
    const outside = network.linksOf(name)
    const links =
      own === null ? outside : withLocalWorker(outside, { incarnation: self.incarnation, handler: own.served })
    const recent = createRecentFinals(timers)
    const { storedFinals } = lifecycleOf(self)
    const remote = createRemoteLives({
      links, placements: where, environment, timers, logger, storedFinals, recent, bus: createLiveBus({ logger }),
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

  const told = (): void => {
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
    /** Admission gives the live to this worker, and everybody hears of it. */
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
      told()
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
