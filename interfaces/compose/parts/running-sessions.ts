import { watchWorkers } from '../../../application/admission/watch-workers.ts'
import { createLags } from '../../../application/pipeline/lags.ts'
import { createLeftOutWords } from '../../../application/pipeline/left-out.ts'
import { assemble } from '../assemble.ts'
import { clusterFigures } from '../cluster-figures.ts'
import { createPullRefusal } from '../sources.ts'
import { succeed } from '../succeed.ts'
import { placeLocally } from '../../ws/senders/sender-placement.ts'
import type { Engines } from './engines.ts'
import type { Foundation } from './foundation.ts'
import { openHearing } from './hearing.ts'
import type { Hearing } from './hearing.ts'
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

/** Within one process that does everything, sessions are a function call away. */
const accessHere = ({ sessions, bus }: Hearing): SessionAccess =>
  ({ sessions, bus, placeSender: placeLocally(sessions), endByWorker: sessions.endByWorker, runs: sessions.runs })

/**
 * Sessions as this process has part in them: it runs its own as a worker, reaches those of others, and sees to what is to
 * be done by itself, whichever of these its roles are.
 */
export const runSessions = ({ foundation, engines, writeSide, readSide }: Needs) =>
  assemble(async (opened) => {
    const { settings, stores, environment, timers, logger } = foundation
    const { admission, isShared } = writeSide

    // Never ourselves, not even where everything is allowed: the port is known once it is bound.
    let ownPort = settings.port === 0 ? null : settings.port
    const pullRules = () => ({ allow: settings.audioUrlAllowCidrs ?? [], ownPort })
    const isolation = await foundation.isolating

    const lags = createLags()
    const leftOut = createLeftOutWords()
    const needs = { foundation, writeSide, readSide }
    const unsure = (liveId: number): void => worker?.settle(liveId)
    const hearing = engines.own === null
      ? null
      : await openHearing({ ...needs, engines: engines.own, lags, leftOut, pullRules, unsure })
    const relay = isShared ? opened(await openRelay({ ...needs, hearing })) : null
    const access = relay?.access ?? (hearing === null ? null : accessHere(hearing))
    if (access === null) throw new Error('a process without a worker needs servers')
    const { endByWorker } = access
    const policies = settings.role.includes('projector') ? opened(await startPolicies({ ...needs, endByWorker })) : null
    if (isShared) opened(watchWorkers({ admission, environment, members: stores.members, timers, logger }))
    const ownLives = (): ReadonlyArray<number> => hearing?.sessions.runs.all() ?? []
    opened(stores.followErasures(ownLives))
    // First, so that nothing is ended or forgotten under a live that still writes.
    if (hearing !== null) opened({ stop: hearing.sessions.close })
    const worker = hearing === null ? null : opened(await startWorker({ ...needs, hearing, relay }))

    const cluster = relay === null ? null : opened(clusterFigures({ ...stores, admission, links: relay.links }))

    return {
      access,
      hearing,
      cluster,
      lags,
      leftOut,
      isolation,
      ownLives,
      drain: async (): Promise<void> => {
        await worker?.drain()
        stores.members.announce({ state: 'stopping' })
      },
      pullRefusal: createPullRefusal(isolation, pullRules),
      /** The lives of an earlier process go on or end, before anybody can come to them. */
      resume: async (): Promise<void> => {
        if (worker !== null) await succeed('settle the open lives', worker.resume)
        if (policies !== null && !isShared) await succeed('reconcile lives and reservations', policies.reconcileNow)
      },
      listensOn: (port: number): void => {
        ownPort = port
      },
    }
  })
