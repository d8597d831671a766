/** The rows of the requirements that a test's title names before its colon: `R57 R58: …`, `R61, R55: …`, `R49–R53, D6: …`. */
export const rowsOf = (title: string): ReadonlyArray<number> => {
  const names = title.split(' › ').at(-1)?.split(':')[0] ?? ''
  return [...names.matchAll(/\bR(\d+)(?:\s*(?:–|-|to)\s*R(\d+))?/g)].flatMap(([, first, last]) => {
    const from = Number(first)
    return Array.from({ length: Number(last ?? from) - from + 1 }, (_, n) => from + n)
  })
}
