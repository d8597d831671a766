import { reservedVram, totalVram } from '../../domain/admission/decider.ts'
import type { AdmissionActor } from '../../application/admission/admission-actor.ts'
import type { SpeechEngine } from '../../application/ports/engine.ts'
import type { Lags } from '../../application/ports/pipeline.ts'
import type { Projector } from '../../application/ports/projector.ts'
import type { Translations } from '../../application/translation/translations.ts'
import { createMetrics } from '../../infrastructure/metrics.ts'
import type { HttpAppOptions } from '../http/app.ts'

/** What tells how the service is. */
interface Observed {
  readonly admission: Pick<AdmissionActor, 'state'>
  readonly projector: Pick<Projector, 'lag' | 'timeouts'>
  readonly translations: Pick<Translations, 'figures'>
  readonly lags: Lags
  readonly engine: Pick<SpeechEngine, 'pid'>
  readonly store: { readonly isAnswering: () => boolean }
  readonly readModels: { readonly isReachable: () => boolean }
  /** Models whose last attempt to load failed. */
  readonly failing: () => ReadonlyArray<string>
  readonly draining: () => boolean
}

/** What /metrics and /health/ready tell. */
export const createHealth = (of: Observed): Pick<HttpAppOptions, 'metrics' | 'readiness'> => {
  const lags = () =>
    of.projector.lag().map(({ projection, secondsBehind: seconds, error, failures, rebuilding }) => ({ projection, seconds, error, failures, rebuilding }))
  return {
    metrics: createMetrics({
      vramReserved: () => reservedVram(of.admission.state()),
      vramTotal: () => totalVram(of.admission.state()),
      projectionLags: lags,
      readYourWritesTimeouts: of.projector.timeouts,
      translations: of.translations.figures,
      lags: of.lags,
    }),
    readiness: () => ({
      ready: !of.draining() && of.store.isAnswering() && of.readModels.isReachable() && lags().every(({ error }) => error === null),
      checks: {
        draining: of.draining(),
        eventStore: of.store.isAnswering() ? 'ok' : 'unavailable',
        readModels: of.readModels.isReachable() ? 'ok' : 'unavailable',
        projections: lags(),
        engine: of.engine.pid() === undefined ? 'restarting' : 'running',
        modelsThatDoNotLoad: of.failing(),
      },
    }),
  }
}
