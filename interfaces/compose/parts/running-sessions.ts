import { watchWorkers } from '../../../application/admission/watch-workers.ts'
import { createLags } from '../../../application/pipeline/lags.ts'
import { createDiscardCounter } from '../../../application/pipeline/discarded-words.ts'
import { assemble } from '../assemble.ts'
import { clusterFigures } from '../cluster-figures.ts'
import { createPullRefusal } from '../sources.ts'
import { runStartStep } from '../start-step.ts'
import { placeLocally } from '../../ws/senders/sender-placement.ts'
import type { Engines } from './engines.ts'
import type { Foundation } from './foundation.ts'
import { openWorkerSessions } from './worker-sessions.ts'
import type { WorkerSessions } from './worker-sessions.ts'
import { startPolicies } from './policies.ts'
import type { ReadSide } from './read-side.ts'
import { openRelay } from './relay.ts'
import type { SessionAccess } from './relay.ts'
import { startWorker } from './worker.ts'
import type { WriteSide } from './write-side.ts'

export type RunningPart = Awaited<ReturnType<typeof runSessions>>

interface Needs {
  readonly foundation: Foundation
  readonly engines: Engines
  readonly writeSide: WriteSide
  readonly readSide: ReadSide
}

/** Returns access to the sessions of this process, for a single process with all roles. */
const localAccess = ({ sessions, bus }: WorkerSessions): SessionAccess =>
  ({ sessions, bus, placeSender: placeLocally(sessions), endByWorker: sessions.endByWorker, runs: sessions.runs })

/**
 * Starts the parts for sessions. A worker runs its own sessions. In a cluster, each process has access to the sessions
 * of other processes. A process with the role `projector` runs the background tasks.
 */
export const runSessions = ({ foundation, engines, writeSide, readSide }: Needs) =>
  assemble(async (opened) => {
    const { settings, stores, environment, timers, logger } = foundation
    const { admission, isShared } = writeSide

    // Audio URLs must never point to this service. A port of 0 is known only after it is bound.
    let ownPort = settings.port === 0 ? null : settings.port
    const pullRules = () => ({ allow: settings.audioUrlAllowCidrs ?? [], ownPort })
    const isolation = await foundation.isolating

    const lags = createLags()
    const discardCounter = createDiscardCounter()
    const needs = { foundation, writeSide, readSide }
    const workerSessions = engines.own === null
      ? null
      : await openWorkerSessions({ ...needs, engines: engines.own, lags, discardCounter, pullRules })
    const relay = isShared ? opened(await openRelay({ ...needs, workerSessions })) : null
    const access = relay?.access ?? (workerSessions === null ? null : localAccess(workerSessions))
    if (access === null) throw new Error('a process without a worker needs servers')
    const { endByWorker } = access
    const policies = settings.role.includes('projector') ? opened(await startPolicies({ ...needs, endByWorker })) : null
    if (isShared) opened(watchWorkers({ admission, environment, members: stores.members, timers, logger }))
    const ownLives = (): ReadonlyArray<number> => workerSessions?.sessions.runs.all() ?? []
    opened(stores.followErasures(ownLives, foundation.states.known.ofKeys))
    // Parts stop in reverse order, so the sessions stop before the policies and the stores.
    if (workerSessions !== null) opened({ stop: workerSessions.sessions.close })
    const worker = workerSessions === null ? null : opened(await startWorker({ ...needs, workerSessions, relay }))

    const cluster = relay === null ? null : opened(clusterFigures({ ...stores, admission, links: relay.links }))

    return {
      access,
      workerSessions,
      cluster,
      lags,
      discardCounter,
      isolation,
      ownLives,
      drain: async (): Promise<void> => {
        await worker?.drain()
        stores.members.announce({ state: 'stopping' })
      },
      pullRefusal: createPullRefusal(isolation, pullRules),
      /** Continues or ends the sessions of an earlier process. Call it before clients can connect. */
      resume: async (): Promise<void> => {
        const waiting = worker === null
          ? new Set<number>()
          : await runStartStep('continue the open sessions', worker.resume)
        if (policies === null || isShared) return
        await runStartStep('reconcile sessions and reservations', () => policies.reconcileExcept(waiting))
      },
      setOwnPort: (port: number): void => {
        ownPort = port
      },
    }
  })
