import { measuredCompute } from '../../../application/admission/measured-compute.ts'
import { offersOf } from '../../../application/admission/offers.ts'
import type { Lags } from '../../../application/pipeline/lags.ts'
import type { DiscardCounter } from '../../../application/pipeline/discarded-words.ts'
import { createLiveBus } from '../../../application/pipeline/live-bus.ts'
import { createLivePipeline } from '../../../application/pipeline/live-pipeline.ts'
import type { CreatePipeline } from '../../../application/pipeline/pipeline.ts'
import { createScheduler } from '../../../application/pipeline/scheduler.ts'
import { liveLifecycle } from '../../../application/sessions/live-lifecycle.ts'
import { createLiveSessions } from '../../../application/sessions/live-sessions.ts'
import { createTranslations } from '../../../application/translation/translations.ts'
import { createPullers } from '../../../infrastructure/sources/puller/puller-client.ts'
import type { AddressRules } from '../../../infrastructure/sources/network/address-guard.ts'
import type { OwnEngines } from './engines.ts'
import type { Foundation } from './foundation.ts'
import type { ReadSide } from './read-side.ts'
import type { WriteSide } from './write-side.ts'

export type WorkerSessions = Awaited<ReturnType<typeof openWorkerSessions>>

interface Needs {
  readonly foundation: Foundation
  readonly engines: OwnEngines
  readonly writeSide: WriteSide
  readonly readSide: ReadSide
  readonly lags: Lags
  readonly discardCounter: DiscardCounter
  readonly pullRules: () => AddressRules
  /** Called when a sender was refused, but the log may still show it as connected. */
}

/** Creates the sessions of a worker, with their sources and translations. The caller closes `sessions`. */
export const openWorkerSessions = async (needs: Needs) => {
  const { foundation, engines, writeSide, readSide, lags, discardCounter, pullRules } = needs
  const { settings, environment, timers, logger } = foundation
  const { write, admission, worker } = writeSide
  const { pool, translator } = engines
  const { monotonic } = environment
  const bus = createLiveBus({ logger })
  const schedulers = new Map(pool.engines.map((engine) => [engine, createScheduler(engine, monotonic)]))
  const reservedBy = (liveId: number): number =>
    admission.state().open.find((held) => held.liveId === liveId)?.vram ?? 0
  const createPipeline: CreatePipeline = (session) => {
    const { liveId, model } = session
    const { engine, release: onStop } = pool.pin({ liveId, model, vram: reservedBy(liveId) })
    const scheduler = schedulers.get(engine) ?? createScheduler(engine, monotonic)
    return createLivePipeline({ engine, scheduler, monotonic, timers, lags, discardCounter, onStop })(session)
  }
  const translations = createTranslations({ engine: translator, monotonic, logger })
  const sessions = createLiveSessions({
    lifecycle: liveLifecycle({
      ...write, admission, worker, logger, whenProjected: readSide.whenProjected, ...readSide.lives,
      pendingTimeout: settings.pendingTimeout,
    }),
    createPipeline,
    startPuller: createPullers({ rules: pullRules, isolation: await foundation.isolating }),
    translations,
    bus,
    logger,
    environment,
    timers,
    reconnectGrace: settings.reconnectGrace,
    budget: foundation.budget,
   
  })
  const compute = measuredCompute({
    engine: pool.whole, catalogue: engines.installed, admission, store: write.store, logger,
    worker: worker.name, running: sessions.runs.all, overcommit: settings.overcommit, engines: pool.loads,
  })
  const offers = () => offersOf({ ...engines, engine: pool.whole, engines: pool.loads })
  return { sessions, bus, translations, compute, offers }
}
