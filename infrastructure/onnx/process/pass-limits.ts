import type { PassTime } from '../../../application/ports/engine.ts'

/** Milliseconds that `models pull` and `models verify` give a model to load, and to run once. */
export const LONGEST_TRIAL_MS = 1_200_000

/** A pass may take so many times what passes of its model took: long text has more tokens, and other threads compete. */
const MARGIN = 5

/** Passes of which the usual one is the median: about half a minute of a session. */
const LAST_PASSES = 32

/** How long a pass of a model takes, and may take before it counts as hanging. */
export interface PassLimits {
  /** Milliseconds that it may take. */
  readonly of: (model: string) => number
  /** What its last passes took, before any its trial; null where it had none. */
  readonly timeOf: (model: string) => PassTime | null
  /** A pass came to its end, after so many milliseconds. */
  readonly seen: (model: string, milliseconds: number) => void
}

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
  return {
    of: (model) => {
      const known = Math.max(slowest.get(model) ?? 0, measured(model) ?? 0)
      return known === 0 ? Math.max(floor, unmeasured) : Math.max(floor, Math.ceil(MARGIN * known))
    },
    timeOf: (model) => {
      const trial = measured(model)
      const passes = (last.get(model) ?? (trial === undefined ? [] : [trial])).toSorted((one, other) => one - other)
      const [least, usual] = [passes[0], passes[Math.floor((passes.length - 1) / 2)]]
      return least === undefined || usual === undefined ? null : { usual: usual / 1000, least: least / 1000 }
    },
    seen: (model, milliseconds) => {
      last.set(model, [...(last.get(model) ?? []), milliseconds].slice(-LAST_PASSES))
      slowest.set(model, Math.max(slowest.get(model) ?? 0, milliseconds))
    },
  }
}
