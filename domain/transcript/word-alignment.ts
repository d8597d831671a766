/** Words of a text as error rates compare them: lower case, letters, digits and apostrophes only. */
export const comparableWords = (text: string): ReadonlyArray<string> =>
  text
    .toLowerCase()
    .normalize('NFC')
    .split(/[^\p{L}\p{N}\p{M}']+/u)
    .filter((word) => word !== '')

export interface Alignment {
  /** Substitutions, insertions and deletions of the cheapest way from one to the other. */
  readonly errors: number
  /** Pairs of equal words, [index in reference, index in hypothesis], both growing. */
  readonly matches: ReadonlyArray<readonly [number, number]>
}

/**
 * Levenshtein alignment of two word lists. With `reach: 'prefix'` the hypothesis is held against that beginning of the
 * reference which it fits best: what has not been said yet is no error.
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
  const end = reach === 'whole' ? reference.length : (Array.from({ length: reference.length + 1 }, (_, index) => index).toSorted(fits)[0] ?? 0)
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

/** Word error rate: errors over the reference's words. */
export const wordErrorRate = (reference: string, hypothesis: string): number => {
  const words = comparableWords(reference)
  return alignWords(words, comparableWords(hypothesis)).errors / Math.max(1, words.length)
}
