/** Milliseconds that so many texts of a few tokens take together. */
export type Rehearse = (texts: number) => Promise<number>

/** Texts that are tried together. */
const COMPANY = 4
/** Together they may take so much of the time that they take one after another. */
const WORTH = 0.8

/**
 * How many texts of a model one run is to hold, at most: `most` where a few together take clearly less time than one after another, else one. Each is
 * rehearsed twice, for a provider compiles what it runs for the first time.
 */
export const measureBatch = async (rehearse: Rehearse | undefined, most: number): Promise<number> => {
  if (rehearse === undefined) return 1
  const timeOf = async (texts: number): Promise<number> => {
    await rehearse(texts)
    return rehearse(texts)
  }
  const alone = await timeOf(1)
  // Where there is no memory for a few, there is for one.
  const together = await timeOf(COMPANY).catch(() => Infinity)
  return together < WORTH * COMPANY * alone ? most : 1
}
