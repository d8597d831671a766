import type { PassTime } from '../../../application/ports/engine.ts'
import type { Task } from './messages.ts'

/** Milliseconds that `models pull` and `models verify` give a model to load, and to run once. */
export const LONGEST_TRIAL_MS = 1_200_000

/** A pass may take so many times what passes of its model took: long text has more tokens, and other threads compete. */
const MARGIN = 5

/** Passes of which the median is told: about half a minute of a session. */
const LAST_PASSES = 32

/** How long a pass of a model takes, and may take before it counts as hanging. */
export interface PassLimits {
  /** Milliseconds that it may take. */
  readonly of: (model: string) => number
  /** What its last passes took, before any its trial; null where it had none. */
  readonly timeOf: (model: string) => PassTime | null
  /** A pass came to its end, after so many milliseconds. */
  readonly seen: (model: string, milliseconds: number) => void
  /** It kept a processor busy for so many milliseconds. */
  readonly spent: (model: string, milliseconds: number) => void
}

const added = (times: ReadonlyArray<number> | undefined, time: number): ReadonlyArray<number> => [...(times ?? []), time].slice(-LAST_PASSES)

/** The middle one, of two the lower; undefined of none. */
const median = (times: ReadonlyArray<number>): number | undefined =>
  times.toSorted((one, other) => one - other)[Math.floor((times.length - 1) / 2)]

/**
 * Limits that grow with what a model needs: `measured` is what its trial took, in milliseconds, if it had one. A model
 * that no trial and no pass has measured has as long as its trial would have.
 *
 * @param floor milliseconds that every pass has
 */
export const createPassLimits = (options: {
  readonly floor: number
  readonly unmeasured?: number
  readonly measured?: ((model: string) => number | undefined) | undefined
}): PassLimits => {
  const { floor, unmeasured = LONGEST_TRIAL_MS, measured = () => undefined } = options
  const slowest = new Map<string, number>()
  const last = new Map<string, ReadonlyArray<number>>()
  const busy = new Map<string, ReadonlyArray<number>>()
  return {
    of: (model) => {
      const known = Math.max(slowest.get(model) ?? 0, measured(model) ?? 0)
      return known === 0 ? Math.max(floor, unmeasured) : Math.max(floor, Math.ceil(MARGIN * known))
    },
    timeOf: (model) => {
      const trial = measured(model)
      const passes = last.get(model) ?? (trial === undefined ? [] : [trial])
      const [usual, processor] = [median(passes), median(busy.get(model) ?? [])]
      if (usual === undefined) return null
      return { usual: usual / 1000, least: Math.min(...passes) / 1000, ...(processor !== undefined && { busy: processor / 1000 }) }
    },
    seen: (model, milliseconds) => {
      last.set(model, added(last.get(model), milliseconds))
      slowest.set(model, Math.max(slowest.get(model) ?? 0, milliseconds))
    },
    spent: (model, milliseconds) => void busy.set(model, added(busy.get(model), milliseconds)),
  }
}

/** Milliseconds; those of `load` come on top of a pass where the thread has yet to load its model. */
export interface TaskLimits {
  readonly detect: number
  readonly load: number
  readonly passes: PassLimits
}

/** Milliseconds that a task may take; `loads`: its thread has yet to load its model. */
export const limitOf = (task: Task, loads: boolean, limits: TaskLimits): number => {
  if (task.kind === 'detect') return limits.detect
  if (task.kind === 'load') return limits.load
  return limits.passes.of(task.job.model) + (loads ? limits.load : 0)
}
