/** The number of a row R1–R159, or another name: `D58`, `RECONNECT_GRACE`. */
export type RowName = number | string

/** What stands before the first colon of a test's title. */
const headOf = (title: string): string => title.split(' › ').at(-1)?.split(':')[0] ?? ''

/** The rows of the requirements that a test's title names before its colon: `R57 R58: …`, `R61, R55: …`, `R49–R53, D6: …`. */
export const rowsOf = (title: string): ReadonlyArray<number> =>
  [...headOf(title).matchAll(/\bR(\d+)(?:\s*(?:–|-|to)\s*R(\d+))?/g)].flatMap(([, first, last]) => {
    const from = Number(first)
    return Array.from({ length: Number(last ?? from) - from + 1 }, (_, n) => from + n)
  })

/** Does a test's title name one of the rows, or other names, before its colon? */
export const namesOne = (title: string, rows: ReadonlyArray<RowName>): boolean => {
  const words = headOf(title).split(/[\s,]+/)
  const named = rowsOf(title)
  return rows.some((row) => (typeof row === 'number' ? named.includes(row) : words.includes(row)))
}
