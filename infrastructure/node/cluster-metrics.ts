import { Counter, Gauge } from 'prom-client'
import { METRIC_TEXTS } from './metric-texts.ts'
import type { MetricName } from './metric-texts.ts'

const STATES = ['up', 'draining', 'stopping'] as const

/** What a process knows of all that share its stores. */
export interface ClusterFigures {
  /** What each says of itself, this one included. */
  readonly members: () => ReadonlyArray<(typeof STATES)[number]>
  /** That take new sessions. */
  readonly workers: () => number
  /** Members that were found lost since the start of the process. */
  readonly lost: () => number
  readonly leases: () => ReadonlyArray<{ readonly holder: string | null; readonly isOwn: boolean }>
  /** Open lives that another worker took over. */
  readonly moved: () => number
  /** Open lives that no worker has room for. */
  readonly unplaced: () => number
  readonly links: () => { readonly open: number; readonly failed: number }
}

const holderOf = ({ holder, isOwn }: ReturnType<ClusterFigures['leases']>[number]): 'own' | 'other' | 'nobody' => {
  if (holder === null) return 'nobody'
  return isOwn ? 'own' : 'other'
}

/** Metrics of a process that is one of several, for a registry. */
export const clusterMetrics = (of: ClusterFigures): ReadonlyArray<Gauge | Counter> => {
  const about = (name: MetricName) => ({ name, help: METRIC_TEXTS[name].help, registers: [] })
  const gauge = (name: MetricName, read: () => number) =>
    new Gauge({
      ...about(name),
      collect() {
        this.set(read())
      },
    })
  const counter = (name: MetricName, read: () => number) =>
    new Counter({
      ...about(name),
      collect() {
        this.reset()
        this.inc(read())
      },
    })
  const counted = <A extends string>(name: MetricName, label: string, values: ReadonlyArray<A>, read: () => ReadonlyArray<A>) =>
    new Gauge({
      ...about(name),
      labelNames: [label],
      collect() {
        const found = read()
        for (const value of values) this.set({ [label]: value }, found.filter((one) => one === value).length)
      },
    })
  return [
    counted('stenolog_members', 'state', STATES, of.members),
    gauge('stenolog_workers', of.workers),
    counter('stenolog_members_lost_total', of.lost),
    counted('stenolog_leases', 'holder', ['own', 'other', 'nobody'], () => of.leases().map(holderOf)),
    gauge('stenolog_lives_moved', of.moved),
    gauge('stenolog_lives_unplaced', of.unplaced),
    gauge('stenolog_links_open', () => of.links().open),
    counter('stenolog_links_failed_total', () => of.links().failed),
  ]
}
