import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { TranslationFigures } from '../../application/ports/translation-engine.ts'
import { type ClusterFigures, clusterMetrics } from './cluster-metrics.ts'
import { METRIC_TEXTS, type MetricName } from './metric-texts.ts'

interface ProjectionFigures {
  readonly projection: string
  /** Time by which the projection is behind the log. */
  readonly seconds: number
  /** The error after which the projection retries. */
  readonly error: string | null
  readonly failures: number
  readonly rebuilding: boolean
}

/** Reads the current figures for each request of the metrics. Counts begin at the start of the process. */
export interface MetricSources {
  /** Megabytes that open sessions reserve. */
  readonly vramReserved: () => number
  /** Megabytes that sessions can reserve in total. */
  readonly vramTotal: () => number
  readonly compute: {
    /** Model passes that the engine runs in parallel. */
    readonly lanes: () => number
    /** Lanes that sessions use. */
    readonly taken: () => number
  }
  readonly projectionLags: () => ReadonlyArray<ProjectionFigures>
  readonly readYourWritesTimeouts: () => number
  readonly translations: () => TranslationFigures
  readonly droppedFinals: () => number
  readonly lags: {
    /** Lag of each running session in seconds. */
    readonly current: () => ReadonlyArray<number>
    /** After each pass, `observe` receives the time from the arrival of audio to its text. */
    readonly onPass: (observe: (seconds: number) => void) => void
  }
  /** Discarded words by cause. */
  readonly leftOutWords: () => Readonly<Record<string, number>>
  /** Lost audio of URL sources in seconds. */
  readonly lostSeconds: () => number
  /** Whether reads and writes succeed; a cluster without a majority answers neither. */
  readonly eventStoreAnswers: () => boolean
  readonly leaderChanges: () => number
  /** Seconds by which the clock of each store is ahead of this machine's. */
  readonly clockSkews: () => ReadonlyArray<{ readonly store: string; readonly seconds: number }>
  /** Null with embedded stores, which no other process shares. */
  readonly cluster: ClusterFigures | null
  /** Whether the decoders of URL sources are isolated. */
  readonly sourceIsolation: () => boolean
}

/** Buckets of the histogram. Most sessions have a max_delay of 5 s. */
const DELAY_BUCKETS_SECONDS = [0.25, 0.5, 1, 1.5, 2, 3, 4, 5, 7.5, 10, 15, 20, 30, 60]

const LAG_LIMITS_SECONDS = [1, 2, 5, 10, 30]

const nameAndHelp = (name: MetricName) => ({ name, help: METRIC_TEXTS[name].help })

/**
 * Returns a function that formats the metrics of this process as Prometheus text. Everybody may read metrics, so
 * labels never contain names, ids, tokens or URLs.
 */
export const createMetrics = (sources: MetricSources): (() => Promise<string>) => {
  const registry = new Registry()
  const gauge = (name: MetricName, read: () => number) =>
    new Gauge({
      ...nameAndHelp(name),
      registers: [],
      collect() {
        this.set(read())
      },
    })
  /** Creates a counter whose figure another part of the service counts. */
  const counter = (name: MetricName, read: () => number) =>
    new Counter({
      ...nameAndHelp(name),
      registers: [],
      collect() {
        this.reset()
        this.inc(read())
      },
    })
  const gaugeOfProjections = (name: MetricName, read: (figures: ProjectionFigures) => number) =>
    new Gauge({
      ...nameAndHelp(name),
      labelNames: ['projection'],
      registers: [],
      collect() {
        this.reset()
        for (const figures of sources.projectionLags())
          this.set({ projection: figures.projection }, read(figures))
      },
    })
  const failures = new Counter({
    ...nameAndHelp('stenolog_projection_failures_total'),
    labelNames: ['projection'],
    registers: [],
    collect() {
      this.reset()
      for (const { projection, failures } of sources.projectionLags()) this.inc({ projection }, failures)
    },
  })
  const translated = new Counter({
    ...nameAndHelp('stenolog_translations_total'),
    labelNames: ['outcome'],
    registers: [],
    collect() {
      this.reset()
      const { done, failed, dropped, skipped } = sources.translations()
      for (const [outcome, count] of Object.entries({ done, failed, dropped, skipped })) this.inc({ outcome }, count)
    },
  })
  const leftOut = new Counter({
    ...nameAndHelp('stenolog_words_left_out_total'),
    labelNames: ['cause'],
    registers: [],
    collect() {
      this.reset()
      for (const [cause, count] of Object.entries(sources.leftOutWords())) this.inc({ cause }, count)
    },
  })
  const behind = new Gauge({
    ...nameAndHelp('stenolog_lives_behind'),
    labelNames: ['longer_than'],
    registers: [],
    collect() {
      const lags = sources.lags.current()
      for (const limit of LAG_LIMITS_SECONDS)
        this.set({ longer_than: limit }, lags.filter((seconds) => seconds > limit).length)
    },
  })
  const clockSkew = new Gauge({
    ...nameAndHelp('stenolog_clock_skew_seconds'),
    labelNames: ['store'],
    registers: [],
    collect() {
      for (const { store, seconds } of sources.clockSkews()) this.set({ store }, seconds)
    },
  })
  const audioToText = new Histogram({
    ...nameAndHelp('stenolog_audio_to_text_seconds'),
    buckets: DELAY_BUCKETS_SECONDS,
    registers: [],
  })
  sources.lags.onPass((seconds) => audioToText.observe(seconds))
  registry.registerMetric(gauge('stenolog_vram_reserved_megabytes', sources.vramReserved))
  registry.registerMetric(gauge('stenolog_vram_total_megabytes', sources.vramTotal))
  registry.registerMetric(gauge('stenolog_engine_lanes', sources.compute.lanes))
  registry.registerMetric(gauge('stenolog_engine_lanes_taken', sources.compute.taken))
  registry.registerMetric(gauge('stenolog_live_lag_max_seconds', () => Math.max(0, ...sources.lags.current())))
  registry.registerMetric(behind)
  registry.registerMetric(audioToText)
  registry.registerMetric(leftOut)
  registry.registerMetric(gauge('stenolog_translations_waiting', () => sources.translations().waiting))
  registry.registerMetric(gauge('stenolog_translation_lag_seconds', () => sources.translations().lagSeconds))
  registry.registerMetric(translated)
  registry.registerMetric(gaugeOfProjections('stenolog_projection_lag_seconds', ({ seconds }) => seconds))
  registry.registerMetric(gaugeOfProjections('stenolog_projection_failing', ({ error }) => (error === null ? 0 : 1)))
  registry.registerMetric(failures)
  registry.registerMetric(gaugeOfProjections('stenolog_projection_rebuilding', ({ rebuilding }) => Number(rebuilding)))
  registry.registerMetric(counter('stenolog_read_your_writes_timeouts_total', sources.readYourWritesTimeouts))
  registry.registerMetric(counter('stenolog_finals_dropped_total', sources.droppedFinals))
  registry.registerMetric(counter('stenolog_source_lost_seconds_total', sources.lostSeconds))
  registry.registerMetric(gauge('stenolog_event_store_answers', () => Number(sources.eventStoreAnswers())))
  registry.registerMetric(counter('stenolog_event_store_leader_changes_total', sources.leaderChanges))
  registry.registerMetric(clockSkew)
  if (sources.cluster !== null) for (const metric of clusterMetrics(sources.cluster)) registry.registerMetric(metric)
  registry.registerMetric(gauge('stenolog_source_isolation', () => Number(sources.sourceIsolation())))
  return () => registry.metrics()
}
