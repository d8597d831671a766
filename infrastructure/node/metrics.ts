import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { TranslationFigures } from '../../application/ports/translation-engine.ts'
import { clusterMetrics } from './cluster-metrics.ts'
import type { ClusterFigures } from './cluster-metrics.ts'
import { METRIC_TEXTS } from './metric-texts.ts'
import type { MetricName } from './metric-texts.ts'

interface ProjectionFigures {
  readonly projection: string
  /** Behind the log. */
  readonly seconds: number
  /** What it is retrying after. */
  readonly error: string | null
  readonly failures: number
  readonly rebuilding: boolean
}

/** Where the figures are read from when somebody asks for the metrics. */
export interface MetricSources {
  /** Megabytes that open lives hold. */
  readonly vramReserved: () => number
  /** Megabytes that there are to reserve from. */
  readonly vramTotal: () => number
  readonly compute: {
    /** Passes that the engine runs at a time. */
    readonly lanes: () => number
    /** Of these what sessions take. */
    readonly taken: () => number
  }
  readonly projectionLags: () => ReadonlyArray<ProjectionFigures>
  /** Since the start of the process. */
  readonly readYourWritesTimeouts: () => number
  readonly translations: () => TranslationFigures
  /** Since the start of the process. */
  readonly droppedFinals: () => number
  readonly lags: {
    readonly current: () => ReadonlyArray<number>
    readonly onHeard: (observe: (seconds: number) => void) => void
  }
  /** By cause, since the start of the process. */
  readonly leftOutWords: () => Readonly<Record<string, number>>
  /** Seconds of audio of URL sources since the start of the process. */
  readonly lostSeconds: () => number
  /** For reads and writes: a cluster without a majority answers neither. */
  readonly eventStoreAnswers: () => boolean
  /** Since the start of the process. */
  readonly leaderChanges: () => number
  /** Null in a process that has its stores for itself. */
  readonly cluster: ClusterFigures | null
  /** Can the decoders of URL sources open nothing? */
  readonly sourceIsolation: () => boolean
}

/** Seconds; most lives have a max_delay of 5. */
const DELAYS = [0.25, 0.5, 1, 1.5, 2, 3, 4, 5, 7.5, 10, 15, 20, 30, 60]

/** Seconds of lag by which running lives are counted. */
const LAG_LIMITS = [1, 2, 5, 10, 30]

const named = (name: MetricName) => ({ name, help: METRIC_TEXTS[name].help })

/** The metrics of this process in Prometheus' text format. Everybody may read them: labels never hold names, ids, tokens or URLs. */
export const createMetrics = (sources: MetricSources): (() => Promise<string>) => {
  const registry = new Registry()
  const gauge = (name: MetricName, read: () => number) =>
    new Gauge({
      ...named(name),
      registers: [],
      collect() {
        this.set(read())
      },
    })
  /** Of what is counted elsewhere. */
  const counter = (name: MetricName, read: () => number) =>
    new Counter({
      ...named(name),
      registers: [],
      collect() {
        this.reset()
        this.inc(read())
      },
    })
  const ofProjections = (name: MetricName, read: (figures: ProjectionFigures) => number) =>
    new Gauge({
      ...named(name),
      labelNames: ['projection'],
      registers: [],
      collect() {
        this.reset()
        for (const figures of sources.projectionLags()) this.set({ projection: figures.projection }, read(figures))
      },
    })
  const failures = new Counter({
    ...named('stenolog_projection_failures_total'),
    labelNames: ['projection'],
    registers: [],
    collect() {
      this.reset()
      for (const { projection, failures } of sources.projectionLags()) this.inc({ projection }, failures)
    },
  })
  const translated = new Counter({
    ...named('stenolog_translations_total'),
    labelNames: ['outcome'],
    registers: [],
    collect() {
      this.reset()
      const { done, failed, dropped, skipped } = sources.translations()
      for (const [outcome, count] of Object.entries({ done, failed, dropped, skipped })) this.inc({ outcome }, count)
    },
  })
  const leftOut = new Counter({
    ...named('stenolog_words_left_out_total'),
    labelNames: ['cause'],
    registers: [],
    collect() {
      this.reset()
      for (const [cause, count] of Object.entries(sources.leftOutWords())) this.inc({ cause }, count)
    },
  })
  const behind = new Gauge({
    ...named('stenolog_lives_behind'),
    labelNames: ['longer_than'],
    registers: [],
    collect() {
      const lags = sources.lags.current()
      for (const limit of LAG_LIMITS) this.set({ longer_than: limit }, lags.filter((seconds) => seconds > limit).length)
    },
  })
  const heard = new Histogram({
    ...named('stenolog_audio_to_text_seconds'),
    buckets: DELAYS,
    registers: [],
  })
  sources.lags.onHeard((seconds) => heard.observe(seconds))
  registry.registerMetric(gauge('stenolog_vram_reserved_megabytes', sources.vramReserved))
  registry.registerMetric(gauge('stenolog_vram_total_megabytes', sources.vramTotal))
  registry.registerMetric(gauge('stenolog_engine_lanes', sources.compute.lanes))
  registry.registerMetric(gauge('stenolog_engine_lanes_taken', sources.compute.taken))
  registry.registerMetric(gauge('stenolog_live_lag_max_seconds', () => Math.max(0, ...sources.lags.current())))
  registry.registerMetric(behind)
  registry.registerMetric(heard)
  registry.registerMetric(leftOut)
  registry.registerMetric(gauge('stenolog_translations_waiting', () => sources.translations().waiting))
  registry.registerMetric(gauge('stenolog_translation_lag_seconds', () => sources.translations().lagSeconds))
  registry.registerMetric(translated)
  registry.registerMetric(ofProjections('stenolog_projection_lag_seconds', ({ seconds }) => seconds))
  registry.registerMetric(ofProjections('stenolog_projection_failing', ({ error }) => (error === null ? 0 : 1)))
  registry.registerMetric(failures)
  registry.registerMetric(ofProjections('stenolog_projection_rebuilding', ({ rebuilding }) => (rebuilding ? 1 : 0)))
  registry.registerMetric(counter('stenolog_read_your_writes_timeouts_total', sources.readYourWritesTimeouts))
  registry.registerMetric(counter('stenolog_finals_dropped_total', sources.droppedFinals))
  registry.registerMetric(counter('stenolog_source_lost_seconds_total', sources.lostSeconds))
  registry.registerMetric(gauge('stenolog_event_store_answers', () => Number(sources.eventStoreAnswers())))
  registry.registerMetric(counter('stenolog_event_store_leader_changes_total', sources.leaderChanges))
  if (sources.cluster !== null) for (const metric of clusterMetrics(sources.cluster)) registry.registerMetric(metric)
  registry.registerMetric(gauge('stenolog_source_isolation', () => Number(sources.sourceIsolation())))
  return () => registry.metrics()
}
