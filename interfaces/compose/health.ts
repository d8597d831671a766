import { reservedVram, totalVram } from '../../domain/admission/state.ts'
import type { MeasuredCompute } from '../../application/admission/measured-compute.ts'
import type { watchClocks } from '../../application/clock-skew.ts'
import type { AdmissionActor } from '../../application/admission/admission-actor.ts'
import type { SpeechEngine } from '../../application/ports/engine.ts'
import type { Lags } from '../../application/pipeline/lags.ts'
import type { DiscardCounter } from '../../application/pipeline/discarded-words.ts'
import type { Keyring } from '../../application/ports/keyring.ts'
import type { ProjectionLag, Projector } from '../../application/ports/projector.ts'
import type { RunningSessions } from '../../application/running/live-sessions.ts'
import type { Translations } from '../../application/pipeline/translations.ts'
import type { SourceIsolation } from '../../infrastructure/sources/source-isolation.ts'
import type { UnreadableStream, WatchedLog } from '../../application/log/watched-log.ts'
import type { ClusterFigures } from '../../infrastructure/observability/cluster-metrics.ts'
import { NOT_RUNNING } from '../../projections/progress/follow-progress.ts'
import { createMetrics } from '../../infrastructure/observability/metrics.ts'
import type { HttpAppOptions } from '../http/app.ts'
import type { Service } from './service.ts'

/** The sources of /metrics and /health/ready. */
type Health = Pick<HttpAppOptions, 'metrics' | 'readiness'>

/** The parts of the service that health and metrics read. */
interface Observed {
  readonly admission: Pick<AdmissionActor, 'state'>
  readonly projector: Pick<Projector, 'lag' | 'timeouts'>
  readonly lags: Lags
  readonly discardCounter: Pick<DiscardCounter, 'counts'>
  /** Null in a process without the role `worker`. */
  readonly worker: {
    readonly translations: Pick<Translations, 'figures'>
    readonly sessions: Pick<RunningSessions, 'droppedFinals' | 'lostSeconds'>
    readonly compute: Pick<MeasuredCompute, 'lanes' | 'taken'>
  } | null
  /** The engines of this process. Null in a process without the role `worker`. */
  readonly own: { readonly pool: { readonly whole: Pick<SpeechEngine, 'pid'> } } | null
  readonly store: {
    readonly isAnswering: () => boolean
    readonly clocks: Pick<ReturnType<typeof watchClocks>, 'all' | 'differing'>
  }
  readonly leaderChanges: () => number
  /** `unreachable`: why MongoDB is unavailable, or null. */
  readonly readModels: { readonly unreachable: () => string | null }
  readonly log: Pick<WatchedLog, 'unreadable' | 'isOlder'>
  readonly keyring: Pick<Keyring, 'missing' | 'foreign'>
  /** Models whose last attempt to load failed. */
  readonly failing: () => ReadonlyArray<string>
  readonly draining: () => boolean
  readonly isolation: Pick<SourceIsolation, 'problem'>
  /** Null with embedded stores, which only one process uses. */
  readonly cluster: ClusterFigures | null
}

/** Figures of a process without a worker. A lane is the capacity for one pass of a model at a time. */
const NO_COMPUTE: Pick<MeasuredCompute, 'lanes' | 'taken'> = { lanes: () => 0, taken: () => 0 }
const NO_TRANSLATIONS: ReturnType<Translations['figures']> =
  { done: 0, failed: 0, dropped: 0, skipped: 0, waiting: 0, lagSeconds: 0 }

/** Maximum number of damaged streams, and of missing keys, that /health/ready lists. `stenolog check` lists all. */
const MAX_NAMED = 100
const FOREIGN = 'an encrypted value was changed, or belongs to another event'

/** Errors of a store contain hosts and paths, and the response is public. Only the log contains them. */
const publicError = (error: string | null): string | null =>
  error === null || error === NOT_RUNNING ? error : 'retrying'

const figuresOf = (
  { projection, secondsBehind: seconds, error, failures, rebuilding }: Omit<ProjectionLag, 'stuckAt' | 'share'>,
) => ({ projection, seconds, error, failures, rebuilding })

/**
 * Creates the sources of /metrics and /health/ready. Damaged streams, missing keys and clocks that differ are listed,
 * but the service stays ready: it still serves all other data, and a restart or another process would not help.
 */
export const createHealth = (observed: Observed): Health => {
  const lags = () => observed.projector.lag().map(figuresOf)
  const damagedStreams = (): ReadonlyArray<UnreadableStream> => [
    ...observed.log.unreadable(),
    ...observed.keyring.foreign().map((stream): UnreadableStream => ({ stream, problem: 'damaged', detail: FOREIGN })),
  ]
  const eventStore = () => {
    // An older copy has replaced the log, so the memory of this process contains events that the log does not have.
    if (observed.log.isOlder()) return 'older'
    return observed.store.isAnswering() ? 'ok' : 'unavailable'
  }
  const engine = () => {
    if (observed.own === null) return 'none'
    return observed.own.pool.whole.pid() === undefined ? 'restarting' : 'running'
  }
  const readModels = () => (observed.readModels.unreachable() === null ? 'ok' : 'unavailable')
  // A projection that another process or no process runs does not count, because every process would then be unready. A
  // projection that is stuck at an event does not count, because all others work.
  const hasCaughtUpWithLog = () =>
    observed.projector.lag().every(({ hasCaughtUp, error, isOwn, stuckAt }) =>
      stuckAt !== null || (hasCaughtUp && (error === null || !isOwn)))
  return {
    metrics: createMetrics({
      vramReserved: () => reservedVram(observed.admission.state()),
      vramTotal: () => totalVram(observed.admission.state()),
      compute: observed.worker?.compute ?? NO_COMPUTE,
      projectionLags: lags,
      readYourWritesTimeouts: observed.projector.timeouts,
      translations: () => observed.worker?.translations.figures() ?? NO_TRANSLATIONS,
      droppedFinals: () => observed.worker?.sessions.droppedFinals() ?? 0,
      lostSeconds: () => observed.worker?.sessions.lostSeconds() ?? 0,
      lags: observed.lags,
      leftOutWords: observed.discardCounter.counts,
      eventStoreAnswers: observed.store.isAnswering,
      leaderChanges: observed.leaderChanges,
      clockSkews: observed.store.clocks.all,
      cluster: observed.cluster,
      sourceIsolation: () => observed.isolation.problem === null,
    }),
    readiness: () => ({
      ready: !observed.draining() && eventStore() === 'ok' && readModels() === 'ok' && hasCaughtUpWithLog(),
      checks: {
        draining: observed.draining(),
        eventStore: eventStore(),
        readModels: readModels(),
        projections: observed.projector.lag().map(({ stuckAt, share, ...lag }) =>
          ({ ...figuresOf(lag), error: publicError(lag.error), share, stuckAt })),
        engine: engine(),
        // The service is ready without workers, because everything except new sessions works.
        ...(observed.cluster !== null && { workers: observed.cluster.workers() }),
        modelsThatDoNotLoad: observed.failing(),
        damagedStreams: damagedStreams().slice(0, MAX_NAMED),
        clocksThatDiffer: observed.store.clocks.differing(),
        missingKeys: observed.keyring.missing().slice(0, MAX_NAMED),
      },
    }),
  }
}

/** Returns the health of a service. */
export const healthOf = (
  { foundation, engines, writeSide, readSide, sources, worker, cluster }: Service, draining: () => boolean,
): Health =>
  createHealth({
    ...engines, worker, cluster, draining,
    admission: writeSide.admission,
    projector: readSide.projector,
    store: readSide.storeWatch,
    lags: foundation.lags,
    discardCounter: foundation.discardCounter,
    log: foundation.log,
    keyring: foundation.keyring,
    readModels: foundation.stores,
    leaderChanges: foundation.stores.leaderChanges,
    isolation: sources.isolation,
  })
