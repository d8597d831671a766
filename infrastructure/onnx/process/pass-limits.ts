/** Milliseconds that `models pull` and `models verify` give a model to load, and to run once. */
export const LONGEST_TRIAL_MS = 1_200_000

/** A pass may take so many times what passes of its model took: long text has more tokens, and other threads compete. */
const MARGIN = 5

/** How long one pass of a model may take before it counts as hanging. */
export interface PassLimits {
  /** Milliseconds. */
  readonly of: (model: string) => number
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
  return {
    of: (model) => {
      const known = Math.max(slowest.get(model) ?? 0, measured(model) ?? 0)
      return known === 0 ? Math.max(floor, unmeasured) : Math.max(floor, Math.ceil(MARGIN * known))
    },
    seen: (model, milliseconds) => {
      slowest.set(model, Math.max(slowest.get(model) ?? 0, milliseconds))
    },
  }
}
