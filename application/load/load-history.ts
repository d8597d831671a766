import type { AdmissionActor } from '../admission/admission-actor.ts'
import { reservedVram } from '../../domain/admission/state.ts'
import type { Listeners } from '../lives/queries/get-activity.ts'
import type { Lags } from '../pipeline/lags.ts'
import type { Environment } from '../ports/environment.ts'
import type { Timers } from '../ports/timers.ts'

/** How loaded this process was at one moment. */
export interface LoadSample {
  readonly at: string
  /** Of all running lives, in seconds; 0 where there are none. */
  readonly lagMax: number
  readonly lagP95: number
  /** Megabytes. */
  readonly vramReserved: number
  readonly sessions: number
  readonly listeners: number
}

export interface LoadHistory {
  /** Those of the last minutes, the oldest first. */
  readonly recent: (minutes: number) => ReadonlyArray<LoadSample>
  readonly stop: () => void
}

export interface LoadHistoryDeps {
  readonly lags: Pick<Lags, 'current'>
  readonly admission: Pick<AdmissionActor, 'state'>
  readonly listeners: Pick<Listeners, 'all'>
  readonly environment: Pick<Environment, 'now'>
  readonly timers: Timers
}

/** Seconds between two samples. */
export const LOAD_STEP = 10
/** Minutes that are remembered. */
export const LOAD_MINUTES = 360
const SAMPLES_A_MINUTE = 60 / LOAD_STEP

const percentile = (sorted: ReadonlyArray<number>, share: number): number =>
  sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0

/** Takes a sample now and every ten seconds, and forgets those of more than six hours ago. */
export const startLoadHistory = ({ lags, admission, listeners, environment, timers }: LoadHistoryDeps): LoadHistory => {
  const samples: Array<LoadSample> = []
  let cancel: () => void = () => undefined
  const sample = (): void => {
    const current = lags.current().toSorted((a, b) => a - b)
    const state = admission.state()
    samples.push({
      at: environment.now(),
      lagMax: current.at(-1) ?? 0,
      lagP95: percentile(current, 0.95),
      vramReserved: reservedVram(state),
      sessions: state.open.length,
      listeners: listeners.all(),
    })
    if (samples.length > LOAD_MINUTES * SAMPLES_A_MINUTE) samples.shift()
    cancel = timers.after(LOAD_STEP * 1000, sample)
  }
  sample()
  return { recent: (minutes) => samples.slice(-minutes * SAMPLES_A_MINUTE), stop: () => cancel() }
}
