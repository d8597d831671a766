import type { AdmissionActor } from './admission/admission-actor.ts'
import { reservedVram } from '../domain/admission/state.ts'
import type { Listeners } from './lives/queries/get-activity.ts'
import type { Lags } from './pipeline/lags.ts'
import type { Environment } from './ports/environment.ts'
import type { Timers } from './ports/timers.ts'

/** The load of this process at one moment. */
export interface LoadSample {
  readonly at: string
  /** Seconds by which the text lags behind the audio: the maximum of all running sessions. 0 without sessions. */
  readonly lagMax: number
  /** The 95th percentile of the same lags. */
  readonly lagP95: number
  /** Megabytes. */
  readonly vramReserved: number
  readonly sessions: number
  readonly listeners: number
}

export interface LoadHistory {
  /** Returns the samples of the last minutes, oldest first. */
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
export const LOAD_STEP_SECONDS = 10
/** Minutes of samples that are kept. */
export const LOAD_MINUTES = 360
const SAMPLES_PER_MINUTE = 60 / LOAD_STEP_SECONDS

const percentile = (sorted: ReadonlyArray<number>, share: number): number =>
  sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0

/** Takes a sample now and every ten seconds. Keeps the samples of the last six hours. */
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
    if (samples.length > LOAD_MINUTES * SAMPLES_PER_MINUTE) samples.shift()
    cancel = timers.after(LOAD_STEP_SECONDS * 1000, sample)
  }
  sample()
  return { recent: (minutes) => samples.slice(-minutes * SAMPLES_PER_MINUTE), stop: () => cancel() }
}
