import { announceWorker } from '../../application/admission/announce-worker.ts'
import { offeringOf } from '../../application/admission/offers.ts'
import { rejoinWorker } from '../../application/admission/rejoin-worker.ts'
import { watchWorkers } from '../../application/admission/watch-workers.ts'
import { drainWorker } from '../../application/running/drain-worker.ts'
import { type RunLives, runLives } from '../../application/running/run-lives.ts'
import { type Settings, takeoverGraceOf } from '../../infrastructure/settings/settings.ts'
import { assemble, type Part } from './assemble.ts'
import { clusterFigures } from './cluster-figures.ts'
import { startEnginesInCluster } from './engines.ts'
import { openFoundation } from './foundation.ts'
import { openFront } from './front.ts'
import { openOperationsFront } from './operations-front.ts'
import { startPolicies } from './policies.ts'
import { startReadSide } from './read-side.ts'
import { openRelay, type Relay } from './relay.ts'
import type { Core, RunningService, Service, WorkerSessions } from './service.ts'
import { openSources } from './sources.ts'
import { runStartStep } from './start-step.ts'
import { createWorkerSessions } from './worker-sessions.ts'
import { openWriteSide } from './write-side.ts'

/** A worker of several. */
interface ClusterWorker extends Part {
  /** Continues or ends the sessions of its earlier run. */
  readonly resume: RunLives['start']
  readonly drain: () => Promise<void>
}

/** Starts and stops the sessions of this worker according to the log, and announces its models to other processes. */
const joinCluster = (
  { foundation, writeSide, readSide }: Core, { sessions, offers, lives }: WorkerSessions, relay: Relay,
): Promise<ClusterWorker> =>
  assemble(async (opened) => {
    const { settings, stores: { members }, environment, timers, logger } = foundation
    const { write, admission, worker, vram } = writeSide
    const about = { admission, environment, members, timers, logger }
    const rejoining = opened(rejoinWorker({ ...about, vram }))
    const running = opened(runLives({
      ...write, admission, worker, logger,
      whenProjected: readSide.whenProjected,
      takeoverGrace: takeoverGraceOf(settings),
      runs: relay.relayingEnds(sessions.runs),
      onLost: rejoining.left,
      onMoved: relay.placementChanged,
    }))
    const announcing = announceWorker({
      members, timers, offers, lives, logAnswers: readSide.storeWatch.isAnswering,
    })
    opened({ stop: async () => announcing.stop() })
    const { drainTimeout, role } = settings
    const drain = drainWorker({ ...about, sessions, rejoining, drainTimeout, hasSockets: role.includes('api') })
    return { resume: running.start, drain }
  })

/**
 * Starts one process of several that share their stores. The relay reaches the sessions of all of them. A `worker`
 * transcribes sessions, a `projector` updates the lists and runs the background tasks, an `api` serves clients.
 */
export const startInCluster = (settings: Settings, onReplaced: (reason: string) => void): Promise<RunningService> =>
  assemble(async (opened) => {
    const foundation = opened(await openFoundation(settings, onReplaced))
    const { stores, environment, timers, logger } = foundation
    const { members } = stores
    const engines = opened(await startEnginesInCluster(foundation))
    const writeSide = opened(await openWriteSide(foundation, engines, () => offeringOf(members.all())))
    const { admission } = writeSide
    const readSide = opened(await startReadSide(foundation))
    const core = { foundation, engines, writeSide, readSide, sources: await openSources(foundation) }

    const worker = engines.own === null ? null : createWorkerSessions(core, engines.own)
    const lives = (): ReadonlyArray<number> => worker?.lives() ?? []
    const relay = opened(await openRelay(core, worker))
    if (settings.role.includes('projector')) opened(await startPolicies(core, relay.access.endByWorker))
    opened(watchWorkers({ admission, environment, members, timers, logger }))
    opened(stores.followErasures(lives, foundation.states.known.ofKeys))
    // Parts stop in reverse order, so the sessions stop before the policies and the stores.
    if (worker !== null) opened({ stop: worker.sessions.close })
    const joined = worker === null ? null : opened(await joinCluster(core, worker, relay))
    const cluster = opened(clusterFigures({ ...stores, admission, links: relay.links }))

    const service: Service = {
      ...core,
      access: relay.access,
      worker,
      cluster,
      resume: async () => {
        if (joined !== null) await runStartStep('continue the open sessions', joined.resume)
      },
      drain: async () => {
        await joined?.drain()
        members.announce({ state: 'stopping' })
      },
    }
    const open = settings.role.includes('api') ? openFront : openOperationsFront
    const { url, setupLink } = opened(await open(service))
    return { url, setupLink, logger, sessions: () => lives().length }
  })
