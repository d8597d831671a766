import type { PassTime } from '../../../application/ports/engine.ts'
import type { Task } from './messages.ts'

/** Time limit of `models pull` and `models verify` for loading a model, and for one run. */
export const LONGEST_TRIAL_MS = 1_200_000

/** A pass may take this multiple of the slowest pass so far, because its text may be longer or the CPU busier. */
const MARGIN = 5

/** Passes in the median: about half a minute of a session. */
const LAST_PASSES = 32

/** How long a pass of a model takes, and may take before it counts as hanging. */
export interface PassLimits {
  /** Returns the limit of a pass in milliseconds. */
  readonly limitMs: (model: string) => number
  /** Returns the times of the last passes, or of the trial before the first pass; null without either. */
  readonly timeOf: (model: string) => PassTime | null
  readonly recordDuration: (model: string, milliseconds: number) => void
  readonly recordProcessorTime: (model: string, milliseconds: number) => void
}

const withNewest = (times: ReadonlyArray<number> | undefined, time: number): ReadonlyArray<number> =>
  [...(times ?? []), time].slice(-LAST_PASSES)

/** Returns the median, or the lower of two middle values; undefined for an empty list. */
const median = (times: ReadonlyArray<number>): number | undefined =>
  times.toSorted((a, b) => a - b)[Math.floor((times.length - 1) / 2)]

/** Creates limits that grow with the time that passes of a model take. */
export const createPassLimits = (options: {
  /** Milliseconds that every pass may take. */
  readonly floor: number
  /** Limit of a model without a trial and without a pass. */
  readonly unmeasured?: number
  /** Milliseconds of a pass in the model's trial. */
  readonly measured?: ((model: string) => number | undefined) | undefined
}): PassLimits => {
  const { floor, unmeasured = LONGEST_TRIAL_MS, measured = () => undefined } = options
  const slowest = new Map<string, number>()
  const last = new Map<string, ReadonlyArray<number>>()
  const busy = new Map<string, ReadonlyArray<number>>()
  return {
    limitMs: (model) => {
      const known = Math.max(slowest.get(model) ?? 0, measured(model) ?? 0)
      return known === 0 ? Math.max(floor, unmeasured) : Math.max(floor, Math.ceil(MARGIN * known))
    },
    timeOf: (model) => {
      const trial = measured(model)
      const passes = last.get(model) ?? (trial === undefined ? [] : [trial])
      const [usual, processor] = [median(passes), median(busy.get(model) ?? [])]
      if (usual === undefined) return null
      return {
        usual: usual / 1000,
        least: Math.min(...passes) / 1000,
        ...(processor !== undefined && { busy: processor / 1000 }),
      }
    },
    recordDuration: (model, milliseconds) => {
      last.set(model, withNewest(last.get(model), milliseconds))
      slowest.set(model, Math.max(slowest.get(model) ?? 0, milliseconds))
    },
    recordProcessorTime: (model, milliseconds) => void busy.set(model, withNewest(busy.get(model), milliseconds)),
  }
}

/** Limits in milliseconds. `load` is added to a pass if the thread loads the model first. */
export interface TaskLimits {
  readonly detect: number
  readonly load: number
  readonly passes: PassLimits
}

/** Returns the milliseconds that a task may take. `loads`: the thread loads the model first. */
export const limitOf = (task: Task, loads: boolean, limits: TaskLimits): number => {
  if (task.kind === 'detect') return limits.detect
  if (task.kind === 'load') return limits.load
  return limits.passes.limitMs(task.job.model) + (loads ? limits.load : 0)
}
