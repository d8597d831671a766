/** Splits a text into words for error rates: lower case, only letters, digits and apostrophes. */
export const comparableWords = (text: string): ReadonlyArray<string> =>
  text
    .toLowerCase()
    .normalize('NFC')
    .split(/[^\p{L}\p{N}\p{M}']+/u)
    .filter((word) => word !== '')

export interface Alignment {
  /** Substitutions, insertions and deletions. */
  readonly errors: number
  /** Pairs of equal words: [index in reference, index in hypothesis], both ascending. */
  readonly matches: ReadonlyArray<readonly [number, number]>
}

/**
 * Aligns two word lists (Levenshtein distance). `reach: 'prefix'` is for speech that is still going on: the hypothesis
 * is compared only with those words at the start of the reference that match it best.
 */
export const alignWords = (
  reference: ReadonlyArray<string>,
  hypothesis: ReadonlyArray<string>,
  reach: 'whole' | 'prefix' = 'whole',
): Alignment => {
  const columns = hypothesis.length + 1
  const cost = new Uint32Array((reference.length + 1) * columns)
  const at = (row: number, column: number): number => cost[row * columns + column] ?? 0
  for (let row = 0; row <= reference.length; row += 1)
    for (let column = 0; column < columns; column += 1) {
      if (row === 0 || column === 0) cost[row * columns + column] = row + column
      else {
        const replaced = at(row - 1, column - 1) + (reference[row - 1] === hypothesis[column - 1] ? 0 : 1)
        cost[row * columns + column] = Math.min(replaced, at(row - 1, column) + 1, at(row, column - 1) + 1)
      }
    }
  const matches: Array<readonly [number, number]> = []
  const fits = (a: number, b: number): number => at(a, hypothesis.length) - at(b, hypothesis.length)
  const prefixes = Array.from({ length: reference.length + 1 }, (_, index) => index)
  const end = reach === 'whole' ? reference.length : (prefixes.toSorted(fits)[0] ?? 0)
  let row = end
  let column = hypothesis.length
  while (row > 0 && column > 0) {
    const equal = reference[row - 1] === hypothesis[column - 1]
    if (at(row, column) === at(row - 1, column - 1) + (equal ? 0 : 1)) {
      if (equal) matches.push([row - 1, column - 1])
      row -= 1
      column -= 1
    } else if (at(row, column) === at(row - 1, column) + 1) row -= 1
    else column -= 1
  }
  return { errors: at(end, hypothesis.length), matches: matches.toReversed() }
}

/** Returns the errors divided by the number of words in the reference. */
export const wordErrorRate = (reference: string, hypothesis: string): number => {
  const words = comparableWords(reference)
  return alignWords(words, comparableWords(hypothesis)).errors / Math.max(1, words.length)
}
