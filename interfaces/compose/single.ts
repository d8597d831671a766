import { drainWorker } from '../../application/running/drain-worker.ts'
import { runLives } from '../../application/running/run-lives.ts'
import type { Settings } from '../../infrastructure/settings/settings.ts'
import { placeLocally } from '../ws/senders/sender-placement.ts'
import { assemble } from './assemble.ts'
import { startEngines } from './engines.ts'
import { openFoundation } from './foundation.ts'
import { openFront } from './front.ts'
import { startPolicies } from './policies.ts'
import { startReadSide } from './read-side.ts'
import type { RunningService, Service } from './service.ts'
import { openSources } from './sources.ts'
import { runStartStep } from './start-step.ts'
import { createWorkerSessions } from './worker-sessions.ts'
import { openWriteSide } from './write-side.ts'

/** Starts a service of one process: it has all roles, and at least one of its stores is embedded. */
export const startSingle = (settings: Settings, onReplaced: (reason: string) => void): Promise<RunningService> =>
  assemble(async (opened) => {
    const foundation = opened(await openFoundation(settings, onReplaced))
    const engines = opened(await startEngines(foundation))
    const writeSide = opened(await openWriteSide(foundation, engines))
    const readSide = opened(await startReadSide(foundation))
    const core = { foundation, engines, writeSide, readSide, sources: await openSources(foundation) }

    const worker = createWorkerSessions(core, engines.own)
    const { sessions, bus } = worker
    const { endByWorker, runs } = sessions
    const policies = opened(await startPolicies(core, endByWorker))
    opened(foundation.stores.followErasures(worker.lives, foundation.states.known.ofKeys))
    // Parts stop in reverse order, so the sessions stop before the policies and the stores.
    opened({ stop: sessions.close })
    const { environment, timers, logger, stores: { members } } = foundation
    const { write, admission } = writeSide
    const { whenProjected } = readSide
    const running = opened(
      runLives({ ...write, admission, worker: writeSide.worker, logger, whenProjected, takeoverGrace: 0, runs }),
    )
    const service: Service = {
      ...core,
      access: { sessions, bus, placeSender: placeLocally(sessions), endByWorker, runs },
      worker,
      cluster: null,
      resume: async () => {
        const waiting = await runStartStep('continue the open sessions', running.start)
        await runStartStep('reconcile sessions and reservations', () => policies.reconcileExcept(waiting))
      },
      drain: async () => {
        // A single process cannot be considered lost, so it never has to rejoin.
        const about = { admission, environment, members, timers, logger, rejoining: null }
        await drainWorker({ ...about, sessions, drainTimeout: settings.drainTimeout, hasSockets: true })()
        members.announce({ state: 'stopping' })
      },
    }
    const { url, setupLink } = opened(await openFront(service))
    return { url, setupLink, logger, sessions: () => worker.lives().length }
  })
