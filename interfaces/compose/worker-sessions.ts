import { measuredCompute } from '../../application/admission/measured-compute.ts'
import { offersOf } from '../../application/admission/offers.ts'
import { createLiveBus } from '../../application/pipeline/live-bus.ts'
import { createLivePipeline } from '../../application/pipeline/live-pipeline.ts'
import type { CreatePipeline } from '../../application/pipeline/pipeline.ts'
import { createScheduler } from '../../application/pipeline/scheduler.ts'
import { liveLifecycle } from '../../application/running/live-lifecycle.ts'
import { createLiveSessions } from '../../application/running/live-sessions.ts'
import { createTranslations } from '../../application/pipeline/translations.ts'
import { createPullers } from '../../infrastructure/sources/puller/puller-client.ts'
import type { OwnEngines } from './engines.ts'
import type { Core, WorkerSessions } from './service.ts'

/** Creates the sessions of a worker, with their sources and translations. The caller closes `sessions`. */
export const createWorkerSessions = (
  { foundation, writeSide, readSide, sources }: Core, engines: OwnEngines,
): WorkerSessions => {
  const { settings, environment, timers, logger, budget, lags, discardCounter } = foundation
  const { pendingTimeout, reconnectGrace, overcommit } = settings
  const { write, admission, worker } = writeSide
  const { whenProjected, lives } = readSide
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
    lifecycle: liveLifecycle({ ...write, admission, worker, logger, whenProjected, ...lives, pendingTimeout }),
    createPipeline,
    startPuller: createPullers(sources),
    translations,
    bus,
    logger,
    environment,
    timers,
    reconnectGrace,
    budget,
  })
  const running = sessions.runs.all
  const compute = measuredCompute({
    engine: pool.whole, catalogue: engines.installed, admission, store: write.store, logger,
    worker: worker.name, running, overcommit, engines: pool.loads,
  })
  const offers = () => offersOf({ ...engines, engine: pool.whole, engines: pool.loads })
  return { sessions, bus, translations, compute, offers, lives: running }
}
