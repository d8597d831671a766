/** Number of repetitions that count as a loop, for a sequence of 1, 2, 3, and 4 or more tokens. */
const LOOPS = [8, 5, 4, 3]
const LONGEST_LOOP = 16

/** Returns the number of repeated tokens at the end of a text; 0 when they are no loop. */
export const loopLength = (tokens: ReadonlyArray<number>): number => {
  for (let length = 1; length <= LONGEST_LOOP; length += 1) {
    const extra = length * ((LOOPS[length - 1] ?? LOOPS.at(-1) ?? 0) - 1)
    if (tokens.length < extra + length) return 0
    let equal = 0
    while (equal < extra && tokens[tokens.length - 1 - equal] === tokens[tokens.length - 1 - equal - length]) equal += 1
    if (equal === extra) return extra
  }
  return 0
}
