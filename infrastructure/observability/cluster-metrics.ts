import { Counter, Gauge } from 'prom-client'
import { METRIC_TEXTS, type MetricName } from './metric-texts.ts'

const STATES = ['up', 'draining', 'stopping'] as const

/** Figures about the processes that share one set of stores. */
export interface ClusterFigures {
  /** The announced state of each member, including this process. */
  readonly members: () => ReadonlyArray<(typeof STATES)[number]>
  /** Number of members that accept new sessions. */
  readonly workers: () => number
  /** Number of members that this process found lost since its start. */
  readonly lost: () => number
  readonly leases: () => ReadonlyArray<{ readonly holder: string | null; readonly isOwn: boolean }>
  /** Number of open sessions that another worker took over. */
  readonly moved: () => number
  /** Number of open sessions that no worker has room for. */
  readonly unplaced: () => number
  readonly links: () => { readonly open: number; readonly failed: number }
}

const holderOf = ({ holder, isOwn }: ReturnType<ClusterFigures['leases']>[number]): 'own' | 'other' | 'nobody' => {
  if (holder === null) return 'nobody'
  return isOwn ? 'own' : 'other'
}

/** Creates the metrics of a process that shares its stores with others. */
export const clusterMetrics = (figures: ClusterFigures): ReadonlyArray<Gauge | Counter> => {
  const configOf = (name: MetricName) => ({ name, help: METRIC_TEXTS[name].help, registers: [] })
  const gauge = (name: MetricName, read: () => number) =>
    new Gauge({
      ...configOf(name),
      collect() {
        this.set(read())
      },
    })
  const counter = (name: MetricName, read: () => number) =>
    new Counter({
      ...configOf(name),
      collect() {
        this.reset()
        this.inc(read())
      },
    })
  /** Counts how often `read` returns each of `values`, one time series for each value. */
  const gaugeByLabel = <A extends string>(
    name: MetricName,
    label: string,
    values: ReadonlyArray<A>,
    read: () => ReadonlyArray<A>,
  ) =>
    new Gauge({
      ...configOf(name),
      labelNames: [label],
      collect() {
        const found = read()
        for (const value of values) this.set({ [label]: value }, found.filter((item) => item === value).length)
      },
    })
  return [
    gaugeByLabel('stenolog_members', 'state', STATES, figures.members),
    gauge('stenolog_workers', figures.workers),
    counter('stenolog_members_lost_total', figures.lost),
    gaugeByLabel('stenolog_leases', 'holder', ['own', 'other', 'nobody'], () => figures.leases().map(holderOf)),
    gauge('stenolog_lives_moved', figures.moved),
    gauge('stenolog_lives_unplaced', figures.unplaced),
    gauge('stenolog_links_open', () => figures.links().open),
    counter('stenolog_links_failed_total', () => figures.links().failed),
  ]
}
