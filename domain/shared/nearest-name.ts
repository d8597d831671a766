/**
 * `steps[row][column]`: number of edits that turn the first `row` letters of one word into the first `column` letters
 * of the other word.
 */
type Steps = ReadonlyArray<ReadonlyArray<number>>

const at = (steps: Steps, row: number, column: number): number => steps[row]?.[column] ?? Infinity

/** Counts the letters to insert, delete, replace or swap to turn `a` into `b` (optimal string alignment). */
const distance = (a: string, b: string): number => {
  const steps: Array<Array<number>> = [[...b, ''].map((_, column) => column)]
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row]
    steps.push(current)
    for (let column = 1; column <= b.length; column += 1) {
      const isSwapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      current.push(Math.min(
        at(steps, row - 1, column) + 1,
        at(steps, row, column - 1) + 1,
        at(steps, row - 1, column - 1) + Number(a[row - 1] !== b[column - 1]),
        isSwapped ? at(steps, row - 2, column - 2) + 1 : Infinity,
      ))
    }
  }
  return at(steps, a.length, b.length)
}

/**
 * Returns the closest name with at most a third of its letters wrong, ignoring case. Undefined if none is that close.
 */
export const nearestName = (given: string, names: ReadonlyArray<string>): string | undefined => {
  const word = given.toLowerCase().slice(0, 100)
  const ranked = names
    .map((name) => ({ name, wrong: distance(word, name.toLowerCase()) }))
    .filter(({ name, wrong }) => wrong <= Math.floor(name.length / 3))
    .toSorted((a, b) => a.wrong - b.wrong)
  return ranked[0]?.name
}

/**
 * Returns ` Did you mean …?` with the closest name, or an empty text if no name is close. `shown` formats the name.
 */
export const didYouMean = (
  given: string,
  names: ReadonlyArray<string>,
  shown: (name: string) => string = (name) => name,
): string => {
  const name = nearestName(given, names)
  return name === undefined ? '' : ` Did you mean ${shown(name)}?`
}
