import { createOutage } from './outages.ts'
import type { Environment, Logger } from './ports/environment.ts'

/** A larger difference is told. A smaller one disturbs nothing, and EventStoreDB's time is read to two seconds. */
const LIMIT_MS = 5000

/** The stores, as the metric, `/health/ready` and the log name them. */
export type ClockedStore = 'event_store' | 'mongodb'

export interface StoreClock {
  readonly store: ClockedStore
  /** Milliseconds by which it is ahead of this machine's clock. */
  readonly skewMs: () => number
  /** What the log says when it is ahead, and when it is behind. */
  readonly ahead: string
  readonly behind: string
}

/** The difference between two clocks. Negative: the store's clock is behind this machine's. */
export interface ClockSkew {
  readonly store: ClockedStore
  readonly seconds: number
}

interface Deps {
  readonly logger: Pick<Logger, 'info' | 'warn'>
  readonly environment: Pick<Environment, 'monotonic'>
  readonly clocks: ReadonlyArray<StoreClock>
}

const FAILING = 'the clocks of this machine and of a store differ'
const OVER = 'the clocks of this machine and of a store agree again'

/** Creates the watch over the clocks of the stores. */
export const watchClocks = (deps: Deps) => {
  const all = (): ReadonlyArray<ClockSkew> =>
    deps.clocks.map(({ store, skewMs }) => ({ store, seconds: skewMs() / 1000 }))
  const checks = deps.clocks.map(({ store, skewMs, ahead, behind }) => {
    const outage = createOutage(deps, FAILING, OVER)
    return (): void => {
      const skew = skewMs()
      const about = { store, skewSeconds: Math.round(skew / 1000) }
      if (Math.abs(skew) <= LIMIT_MS) outage.ended(about)
      else outage.failed(skew > 0 ? ahead : behind, about)
    }
  })
  return {
    all,
    /** The clocks that differ by more than five seconds. */
    differing: () => all().filter(({ seconds }) => Math.abs(seconds) * 1000 > LIMIT_MS),
    /** Logs the beginning and the end of differences. Call it regularly. */
    check: (): void => {
      for (const check of checks) check()
    },
  }
}
