import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { User } from '../../../domain/user/decider.ts'
import { measuredCompute } from '../../../application/admission/measured-compute.ts'
import { offersOf } from '../../../application/admission/offers.ts'
import { creatorsAmong } from '../../../application/lives/policies/creators.ts'
import { expireLives, lookEvery } from '../../../application/lives/policies/expire-lives.ts'
import { reconcileLives, reconciling } from '../../../application/lives/policies/reconcile-lives.ts'
import { createLags } from '../../../application/pipeline/lags.ts'
import { createLeftOutWords } from '../../../application/pipeline/left-out.ts'
import { createLiveBus } from '../../../application/pipeline/live-bus.ts'
import { createLivePipeline } from '../../../application/pipeline/live-pipeline.ts'
import { createScheduler } from '../../../application/pipeline/scheduler.ts'
import { liveLifecycle } from '../../../application/sessions/live-lifecycle.ts'
import { createLiveSessions } from '../../../application/sessions/live-sessions.ts'
import { runLives } from '../../../application/sessions/run-lives.ts'
import { drainWorker } from '../../../application/sessions/runs/drain-worker.ts'
import { createTranslations } from '../../../application/translation/translations.ts'
import { isActive } from '../../../application/users/known-user.ts'
import { createPullers } from '../../../infrastructure/sources/puller/puller-client.ts'
import { assemble } from '../assemble.ts'
import { startDuties } from '../duties.ts'
import { createPullRefusal } from '../sources.ts'
import { succeed } from '../succeed.ts'
import type { Engines } from './engines.ts'
import type { Foundation } from './foundation.ts'
import type { ReadSide } from './read-side.ts'
import type { WriteSide } from './write-side.ts'

export type RunningPart = Awaited<ReturnType<typeof runSessions>>

interface Needs {
  readonly foundation: Foundation
  readonly engines: Engines
  readonly writeSide: WriteSide
  readonly readSide: ReadSide
}

/** In a process that is alone its senders go with it. */
const TAKEOVER_GRACE = 0

/** The lives of this process, with their sources and translations, and what ends and forgets lives by itself. */
export const runSessions = ({ foundation, engines, writeSide, readSide }: Needs) =>
  assemble(async (opened) => {
    const { settings, documents, environment, timers, logger } = foundation
    const { write, admission, worker } = writeSide
    const { projector, whenProjected, directory, lives, tokenIdsOf } = readSide
    const { engine, translator } = engines

    // Never ourselves, not even where everything is allowed: the port is known once it is bound.
    let ownPort = settings.port === 0 ? null : settings.port
    const rules = () => ({ allow: settings.audioUrlAllowCidrs ?? [], ownPort })
    const isolation = await foundation.isolating

    const bus = createLiveBus({ logger })
    const lags = createLags()
    const leftOut = createLeftOutWords()
    const scheduler = createScheduler(engine, environment.monotonic)
    const translations = createTranslations({ engine: translator, monotonic: environment.monotonic, logger })
    const working = { ...write, admission, worker, whenProjected }
    const sessions = createLiveSessions({
      lifecycle: liveLifecycle({ ...working, ...lives }),
      createPipeline: createLivePipeline({ engine, scheduler, monotonic: environment.monotonic, timers, lags, leftOut }),
      startPuller: createPullers({ rules, isolation }),
      translations,
      bus,
      logger,
      environment,
      timers,
      reconnectGrace: settings.reconnectGrace,
      unsure: (liveId) => worked.settle(liveId),
    })
    const worked = runLives({ ...working, runs: sessions.runs, takeoverGrace: TAKEOVER_GRACE, logger })

    // Where that cannot be told now, the next round asks again.
    const isDisabled = async (userId: number): Promise<boolean> => {
      const found = await directory.byId(userId)()
      return E.isRight(found) && O.exists((user: User) => !isActive(user))(found.right)
    }
    const expiry = expireLives({ ...working, limits: settings, endByWorker: sessions.endByWorker })
    // No other process can be a member yet.
    const creator = creatorsAmong(foundation.stores.members, true)
    const reconciled = { ...working, isDisabled, creator, takeoverGrace: TAKEOVER_GRACE }
    opened(reconcileLives({ ...reconciled, logger, expiry, every: lookEvery(settings) }))
    const listsAreCurrent = () => projector.lag().every(({ secondsBehind, error }) => error === null && secondsBehind < 30)
    const forgetting = { documents, ...lives, tokenIdsOf, logger, retentionMax: settings.retentionMax, listsAreCurrent }
    opened(startDuties({ ...write, admission, ...forgetting }))
    // First, so that nothing is ended or forgotten under a live that still writes.
    opened({ stop: sessions.close })
    opened(worked)

    const compute = measuredCompute({
      engine, catalogue: writeSide.switched.catalogue, admission, environment, logger,
      worker: worker.name, running: sessions.runs.all, overcommit: settings.overcommit,
    })

    return {
      compute,
      /** At a planned stop, while all else still runs. */
      drain: drainWorker({
        admission, environment, members: foundation.stores.members, sessions, timers, logger,
        // Nobody can take it for lost while it is the one member.
        rejoining: null, drainTimeout: settings.drainTimeout,
      }),
      offers: () => offersOf(engines),
      sessions,
      bus,
      lags,
      leftOut,
      translations,
      isolation,
      pullRefusal: createPullRefusal(isolation, rules),
      /** The lives of an earlier process go on or end, before anybody can come to them. */
      resume: async (): Promise<void> => {
        await succeed('settle the open lives', worked.start)
        await succeed('reconcile lives and reservations', reconciling(reconciled).round)
      },
      listensOn: (port: number): void => {
        ownPort = port
      },
    }
  })
