import { reservedVram, totalVram } from '../../domain/admission/state.ts'
import type { MeasuredCompute } from '../../application/admission/measured-compute.ts'
import type { AdmissionActor } from '../../application/admission/admission-actor.ts'
import type { SpeechEngine } from '../../application/ports/engine.ts'
import type { Lags } from '../../application/pipeline/lags.ts'
import type { LeftOutWords } from '../../application/pipeline/left-out.ts'
import type { Keyring } from '../../application/ports/keyring.ts'
import type { Projector } from '../../application/ports/projector.ts'
import type { RunningSessions } from '../../application/sessions/live-sessions.ts'
import type { Translations } from '../../application/translation/translations.ts'
import type { SourceIsolation } from '../../infrastructure/sources/source-isolation.ts'
import type { HurtStream, WatchedLog } from '../../application/log/watched-log.ts'
import type { ClusterFigures } from '../../infrastructure/node/cluster-metrics.ts'
import { createMetrics } from '../../infrastructure/node/metrics.ts'
import type { HttpAppOptions } from '../http/app.ts'

/** What tells how the service is. */
interface Observed {
  readonly admission: Pick<AdmissionActor, 'state'>
  readonly projector: Pick<Projector, 'lag' | 'timeouts'>
  readonly lags: Lags
  readonly leftOut: Pick<LeftOutWords, 'counts'>
  /** Null in a process that is no worker. */
  readonly hearing: {
    readonly translations: Pick<Translations, 'figures'>
    readonly sessions: Pick<RunningSessions, 'droppedFinals' | 'lostSeconds'>
    readonly compute: Pick<MeasuredCompute, 'lanes' | 'taken'>
  } | null
  readonly own: { readonly pool: { readonly whole: Pick<SpeechEngine, 'pid'> } } | null
  readonly store: { readonly isAnswering: () => boolean }
  readonly leaderChanges: () => number
  readonly readModels: { readonly isReachable: () => boolean }
  readonly log: Pick<WatchedLog, 'hurt' | 'isOlder'>
  readonly keyring: Pick<Keyring, 'missing' | 'foreign'>
  /** Models whose last attempt to load failed. */
  readonly failing: () => ReadonlyArray<string>
  readonly draining: () => boolean
  readonly isolation: Pick<SourceIsolation, 'problem'>
  /** Null in a process that has its stores for itself. */
  readonly cluster: ClusterFigures | null
}

const NO_COMPUTE: Pick<MeasuredCompute, 'lanes' | 'taken'> = { lanes: () => 0, taken: () => 0 }
const NO_TRANSLATIONS: ReturnType<Translations['figures']> = { done: 0, failed: 0, dropped: 0, skipped: 0, waiting: 0, lagSeconds: 0 }

/** Of the streams and keys that are hurt: so many are named, `stenolog check` names all. */
const MAX_NAMED = 100
const FOREIGN = 'an envelope was changed, or does not stand where it was sealed'

/**
 * What /metrics and /health/ready tell. Streams that cannot be read and keys that are missing are named and do not make
 * the service unready: it serves all that does not need them, and no other instance could do more.
 */
export const createHealth = (of: Observed): Pick<HttpAppOptions, 'metrics' | 'readiness'> => {
  const lags = () =>
    of.projector.lag().map(({ projection, secondsBehind: seconds, error, failures, rebuilding }) => ({ projection, seconds, error, failures, rebuilding }))
  const hurtStreams = (): ReadonlyArray<HurtStream> => [
    ...of.log.hurt(),
    ...of.keyring.foreign().map((stream): HurtStream => ({ stream, problem: 'damaged', detail: FOREIGN })),
  ]
  const eventStore = () => {
    if (of.log.isOlder()) return 'older'
    return of.store.isAnswering() ? 'ok' : 'unavailable'
  }
  const engine = () => {
    if (of.own === null) return 'none'
    return of.own.pool.whole.pid() === undefined ? 'restarting' : 'running'
  }
  // What another process runs, and is held up there, every process shows alike: none could do more.
  const hasRead = () => of.projector.lag().every(({ hasCaughtUp, error, isOwn }) => hasCaughtUp && (error === null || !isOwn))
  return {
    metrics: createMetrics({
      vramReserved: () => reservedVram(of.admission.state()),
      vramTotal: () => totalVram(of.admission.state()),
      compute: of.hearing?.compute ?? NO_COMPUTE,
      projectionLags: lags,
      readYourWritesTimeouts: of.projector.timeouts,
      translations: () => of.hearing?.translations.figures() ?? NO_TRANSLATIONS,
      droppedFinals: () => of.hearing?.sessions.droppedFinals() ?? 0,
      lostSeconds: () => of.hearing?.sessions.lostSeconds() ?? 0,
      lags: of.lags,
      leftOutWords: of.leftOut.counts,
      eventStoreAnswers: of.store.isAnswering,
      leaderChanges: of.leaderChanges,
      cluster: of.cluster,
      sourceIsolation: () => of.isolation.problem === null,
    }),
    readiness: () => ({
      ready: !of.draining() && eventStore() === 'ok' && of.readModels.isReachable() && hasRead(),
      checks: {
        draining: of.draining(),
        eventStore: eventStore(),
        readModels: of.readModels.isReachable() ? 'ok' : 'unavailable',
        // Anybody may ask: an error of a store names hosts and paths, so that the log alone tells it.
        projections: lags().map((lag) => ({ ...lag, error: lag.error === null ? null : 'retrying' })),
        engine: engine(),
        // A process without any is ready all the same: all but new sessions works, and no other could do more.
        ...(of.cluster !== null && { workers: of.cluster.workers() }),
        modelsThatDoNotLoad: of.failing(),
        hurtStreams: hurtStreams().slice(0, MAX_NAMED),
        missingKeys: of.keyring.missing().slice(0, MAX_NAMED),
      },
    }),
  }
}
