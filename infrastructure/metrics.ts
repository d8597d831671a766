import { Counter, Gauge, Registry } from 'prom-client'

/** Where the figures are read from when somebody asks for the metrics. */
export interface MetricSources {
  /** Megabytes that open lives hold. */
  readonly vramReserved: () => number
  /** Megabytes that there are to reserve from. */
  readonly vramTotal: () => number
  readonly projectionLags: () => ReadonlyArray<{ readonly projection: string; readonly seconds: number }>
  /** Since the start of the process. */
  readonly readYourWritesTimeouts: () => number
}

/** The metrics of this process in Prometheus' text format; labels never hold names, tokens or URLs. */
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
  const lag = new Gauge({
    name: 'stenolog_projection_lag_seconds',
    help: 'Time by which a projection is behind the log',
    labelNames: ['projection'],
    registers: [],
    collect() {
      this.reset()
      for (const { projection, seconds } of sources.projectionLags()) this.set({ projection }, seconds)
    },
  })
  const timeouts = new Counter({
    name: 'stenolog_read_your_writes_timeouts_total',
    help: 'Writes answered before the lists showed them',
    registers: [],
    collect() {
      this.reset()
      this.inc(sources.readYourWritesTimeouts())
    },
  })
  registry.registerMetric(gauge('stenolog_vram_reserved_megabytes', 'Memory that open lives have reserved', sources.vramReserved))
  registry.registerMetric(gauge('stenolog_vram_total_megabytes', 'Memory that lives can reserve from', sources.vramTotal))
  registry.registerMetric(lag)
  registry.registerMetric(timeouts)
  return () => registry.metrics()
}
