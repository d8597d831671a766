/** Runs some texts of a few tokens together and returns the milliseconds that they took. */
export type Rehearse = (texts: number) => Promise<number>

const TRIAL_TEXTS = 4
/** Joined passes must take at most this share of the time of separate passes. */
const WORTHWHILE_SHARE = 0.8

/**
 * Returns how many texts of a model one run should hold: `most` if joined texts are clearly faster than separate ones,
 * else 1. Each trial runs twice, because a provider compiles the graph in its first run.
 */
export const measureBatch = async (rehearse: Rehearse | undefined, most: number): Promise<number> => {
  if (rehearse === undefined) return 1
  const timeOf = async (texts: number): Promise<number> => {
    await rehearse(texts)
    return rehearse(texts)
  }
  const single = await timeOf(1)
  // The memory may suffice for one text and not for several.
  const joined = await timeOf(TRIAL_TEXTS).catch(() => Infinity)
  return joined < WORTHWHILE_SHARE * TRIAL_TEXTS * single ? most : 1
}
