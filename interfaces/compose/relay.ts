import { storedFinals } from '../../application/lives/queries/stored-finals.ts'
import { takeOver } from '../../application/lives/ownership/take-over.ts'
import { createLiveBus } from '../../application/pipeline/live-bus.ts'
import { createRecentFinals } from '../../application/running/recent-finals.ts'
import { followRemoteLives } from '../../application/running/relay/follow-remote-lives.ts'
import { withLocalWorker } from '../../application/running/relay/local-links.ts'
import { moveUnreachable } from '../../application/running/relay/move-unreachable.ts'
import { createRemoteLives, type LinkFigures } from '../../application/running/relay/remote-lives.ts'
import {
  endAnywhere, relayingEnds, routedSessions, runsAnywhere,
} from '../../application/running/relay/routed-lives.ts'
import { serveLinks } from '../../application/running/relay/serve-links.ts'
import { createPlacements } from '../../application/running/relay/placements.ts'
import type { LiveRuns } from '../../application/running/live-runs.ts'
import { takeoverGraceOf } from '../../infrastructure/settings/settings.ts'
import { placeRemotely } from '../ws/relay/remote-placement.ts'
import { createWorkerSenders } from '../ws/relay/worker-senders.ts'
import { assemble, type Part } from './assemble.ts'
import type { Core, SessionAccess, WorkerSessions } from './service.ts'
import { runStartStep } from './start-step.ts'

/** The way to the sessions of all processes. */
export interface Relay {
  readonly access: SessionAccess
  readonly links: () => LinkFigures
  /** Adds to the sessions of this worker that the relay learns their ends from them. */
  readonly relayingEnds: (own: LiveRuns) => LiveRuns
  /** Checks the links to these sessions: they may run elsewhere, or in another term. */
  readonly placementChanged: (liveIds: ReadonlyArray<number>) => void
}

interface WorkerEnd extends Part {
  readonly handler: ReturnType<typeof serveLinks>
}

/** Serves the links of other processes to the sessions of this worker, on the internal port. */
const openWorkerEnd = ({ foundation, writeSide }: Core, { sessions, bus }: WorkerSessions): Promise<WorkerEnd> =>
  assemble(async (opened) => {
    const { openInternalServer } = await import('../../infrastructure/process-links/server.ts')
    const { settings, self, stores, environment, timers, logger } = foundation
    const { write, admission, worker } = writeSide
    const { rateLimit, idleTimeout } = settings
    const senders = createWorkerSenders({
      sessions, takeoverGrace: takeoverGraceOf(settings), rateLimits: rateLimit > 0, idleTimeout,
      environment, timers, logger,
    })
    const handler = serveLinks({
      worker, admission, takeOver: takeOver({ ...write, admission, worker, logger }), runs: sessions.runs, bus,
      recent: sessions.recent,
      endByWorker: sessions.endByWorker, senders, logger,
    })
    const server = await openInternalServer({
      host: settings.internalHost ?? settings.host, port: settings.internalPort, url: settings.internalUrl,
      masterKey: stores.masterKey, self, handler, logger, timers,
    })
    opened({ stop: server.close })
    stores.members.announce({ address: server.address })
    return { handler }
  })

/** Opens the relay between processes: the links that this process serves, and the links that its own sockets use. */
export const openRelay = (core: Core, worker: WorkerSessions | null): Promise<Relay & Part> =>
  assemble(async (opened) => {
    const { foundation, writeSide, readSide } = core
    const { self, stores: { masterKey, members }, store, environment, timers, logger } = foundation
    const { write, admission } = writeSide
    const { createLiveLinks } = await import('../../infrastructure/process-links/client.ts')
    const workerEnd = worker === null ? null : opened(await openWorkerEnd(core, worker))
    const dialled = createLiveLinks({ masterKey, logger, timers })
    opened({ stop: dialled.close })
    const links = workerEnd === null
      ? dialled
      : withLocalWorker(dialled, { incarnation: self.incarnation, handler: workerEnd.handler })
    const placements = createPlacements({ admission, members })
    const finals = storedFinals(write)
    const remote = createRemoteLives({
      links, placements, bus: createLiveBus({ logger }), recent: createRecentFinals(timers),
      storedFinals: finals,
      unreachable: moveUnreachable({ links, placements, admission, members, environment, timers, logger }),
      environment, timers, logger,
    })
    opened({ stop: async () => remote.close() })
    const placeSender = placeRemotely({ links: remote, environment, timers, logger })
    const { whenProjected, lives: { resolveToken } } = readSide
    // A worker learns from its own sessions that they have ended. Other processes follow the log for that.
    if (worker === null) {
      const from = await runStartStep('read the head of the log', () => store.head())
      const stopping = new AbortController()
      const stopped = followRemoteLives({
        store, from, remote, placements, whenProjected, logger, environment, timers, signal: stopping.signal,
      })
      opened({
        stop: async () => {
          stopping.abort()
          await stopped
        },
      })
    }
    const runs = worker?.sessions.runs ?? null
    const access: SessionAccess = {
      sessions: routedSessions({ remote, storedFinals: finals, resolveToken }),
      bus: remote.bus,
      placeSender,
      endByWorker: endAnywhere({ placements, links, logger }),
      runs: runsAnywhere({ runs, remote, placements, self }),
    }
    return {
      access,
      links: remote.figures,
      relayingEnds: (own) => relayingEnds(own, remote),
      placementChanged: (liveIds) => {
        workerEnd?.handler.placementChanged(liveIds)
        remote.placementChanged(liveIds)
      },
    }
  })
