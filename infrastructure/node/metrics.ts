import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { TranslationFigures } from '../../application/ports/translation-engine.ts'

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
  /** Can the decoders of URL sources open nothing? */
  readonly sourceIsolation: () => boolean
}

/** Seconds; most lives have a max_delay of 5. */
const DELAYS = [0.25, 0.5, 1, 1.5, 2, 3, 4, 5, 7.5, 10, 15, 20, 30, 60]

/** Seconds of lag by which running lives are counted. */
const LAG_LIMITS = [1, 2, 5, 10, 30]

/** The metrics of this process in Prometheus' text format. Everybody may read them: labels never hold names, ids, tokens or URLs. */
export const createMetrics = (sources: MetricSources): (() => Promise<string>) => {
  const registry = new Registry()
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [],
      collect() {
        this.set(read())
      },
    })
  /** Of what is counted elsewhere. */
  const counter = (name: string, help: string, read: () => number) =>
    new Counter({
      name,
      help,
      registers: [],
      collect() {
        this.reset()
        this.inc(read())
      },
    })
  const ofProjections = (name: string, help: string, read: (figures: ProjectionFigures) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['projection'],
      registers: [],
      collect() {
        this.reset()
        for (const figures of sources.projectionLags()) this.set({ projection: figures.projection }, read(figures))
      },
    })
  const failures = new Counter({
    name: 'stenolog_projection_failures_total',
    help: 'Attempts of a projection that failed and were made again',
    labelNames: ['projection'],
    registers: [],
    collect() {
      this.reset()
      for (const { projection, failures } of sources.projectionLags()) this.inc({ projection }, failures)
    },
  })
  const translated = new Counter({
    name: 'stenolog_translations_total',
    help: 'Final segments given to a translator, by what became of them; dropped: their session ended first; skipped: the translator was too far behind',
    labelNames: ['outcome'],
    registers: [],
    collect() {
      this.reset()
      const { done, failed, dropped, skipped } = sources.translations()
      for (const [outcome, count] of Object.entries({ done, failed, dropped, skipped })) this.inc({ outcome }, count)
    },
  })
  const leftOut = new Counter({
    name: 'stenolog_words_left_out_total',
    help: 'Words that a model said and no text holds, by cause: silence, loop, rejected (bad scores), repeated, unsure',
    labelNames: ['cause'],
    registers: [],
    collect() {
      this.reset()
      for (const [cause, count] of Object.entries(sources.leftOutWords())) this.inc({ cause }, count)
    },
  })
  const behind = new Gauge({
    name: 'stenolog_lives_behind',
    help: 'Running lives whose lag is longer than so many seconds',
    labelNames: ['longer_than'],
    registers: [],
    collect() {
      const lags = sources.lags.current()
      for (const limit of LAG_LIMITS) this.set({ longer_than: limit }, lags.filter((seconds) => seconds > limit).length)
    },
  })
  const heard = new Histogram({
    name: 'stenolog_audio_to_text_seconds',
    help: 'From the arrival of the oldest audio that a pass of the engine was the first to hear to its text',
    buckets: DELAYS,
    registers: [],
  })
  sources.lags.onHeard((seconds) => heard.observe(seconds))
  registry.registerMetric(gauge('stenolog_vram_reserved_megabytes', 'Memory that open lives have reserved', sources.vramReserved))
  registry.registerMetric(gauge('stenolog_vram_total_megabytes', 'Memory that lives can reserve from', sources.vramTotal))
  registry.registerMetric(gauge('stenolog_engine_lanes', 'Passes that the engine runs at a time', sources.compute.lanes))
  registry.registerMetric(
    gauge('stenolog_engine_lanes_taken', 'Of these what sessions take, by the time that passes of their models took', sources.compute.taken),
  )
  registry.registerMetric(
    gauge('stenolog_live_lag_max_seconds', 'Age of the oldest speech that a running live has not transcribed, of all lives the greatest', () =>
      Math.max(0, ...sources.lags.current()),
    ),
  )
  registry.registerMetric(behind)
  registry.registerMetric(heard)
  registry.registerMetric(leftOut)
  registry.registerMetric(gauge('stenolog_translations_waiting', 'Final segments that wait for a translator', () => sources.translations().waiting))
  registry.registerMetric(
    gauge('stenolog_translation_lag_seconds', 'Age of the oldest final segment that waits for a translator', () => sources.translations().lagSeconds),
  )
  registry.registerMetric(translated)
  registry.registerMetric(ofProjections('stenolog_projection_lag_seconds', 'Time by which a projection is behind the log', ({ seconds }) => seconds))
  registry.registerMetric(
    ofProjections('stenolog_projection_failing', '1 while a projection tries again after an error', ({ error }) => (error === null ? 0 : 1)),
  )
  registry.registerMetric(failures)
  registry.registerMetric(
    ofProjections('stenolog_projection_rebuilding', '1 while a read model is built anew', ({ rebuilding }) => (rebuilding ? 1 : 0)),
  )
  registry.registerMetric(
    counter(
      'stenolog_read_your_writes_timeouts_total',
      'Writes answered before the lists showed them',
      sources.readYourWritesTimeouts,
    ),
  )
  registry.registerMetric(
    counter(
      'stenolog_finals_dropped_total',
      'Final segments that were told and that no store took: refused for good, or more than may wait for a store that is away',
      sources.droppedFinals,
    ),
  )
  registry.registerMetric(
    counter(
      'stenolog_source_lost_seconds_total',
      'Audio of URL sources that was lost on its way and stands as gaps: missing segments and packets, and reconnects',
      sources.lostSeconds,
    ),
  )
  registry.registerMetric(gauge('stenolog_event_store_answers', '1 while the event store answers', () => Number(sources.eventStoreAnswers())))
  registry.registerMetric(
    counter('stenolog_event_store_leader_changes_total', 'Another node of the event store was found to lead; the log says which', sources.leaderChanges),
  )
  registry.registerMetric(
    gauge('stenolog_source_isolation', '1 where the decoders of URL sources can open no file and no socket', () => Number(sources.sourceIsolation())),
  )
  return () => registry.metrics()
}
