/** The number of a row R1–R172, another name (`D58`, `RECONNECT_GRACE`), or some words of a title as they stand there. */
export type RowName = number | string

/** The codes in square brackets at the end of a test's title. */
const bracketOf = (title: string): string => /\[([^[\]]*)\]$/.exec(title)?.[1] ?? ''

/**
 * A word of its own that is a letter of a family and a number, or a range of such words: no escape of a URL (`%A4`), no
 * colour, and nothing that its maker calls so (NVIDIA A100, Amazon S3).
 */
const CODE = /(?<![\w%#]|(?:NVIDIA|Tesla|Amazon|AWS)\s)([ABDFRS])(\d{1,3})(?![\w%])(?:\s*(?:–|-|to)\s*\1(\d{1,3})(?!\w))?/g

/** The codes of docs/requirements.md that a text cites; a range (`R49–R53`, `R16 to R18`) cites all between. */
export const codesIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(CODE)].flatMap(([, family = '', first, last]) => {
    const from = Number(first)
    return Array.from({ length: Number(last ?? from) - from + 1 }, (_, n) => `${family}${from + n}`)
  })

/** The rows of the requirements that a test's title names in its brackets: `… [R57 R58]`, `… [R49–R53 D6]`. */
export const rowsOf = (title: string): ReadonlyArray<number> =>
  codesIn(bracketOf(title)).flatMap((code) => (code.startsWith('R') ? [Number(code.slice(1))] : []))

/** Tells whether a test's title names one of the rows or codes, or contains one of the other words. */
export const namesRow = (title: string, rows: ReadonlyArray<RowName>): boolean => {
  const words = title.split(/[^\w-]+/)
  return rows.some((row) => {
    if (typeof row === 'number') return rowsOf(title).includes(row)
    return row.includes(' ') ? title.includes(row) : words.includes(row)
  })
}

/** What a test that ran says of a row: whether it passed, and how many rows its title names. */
export interface Claim {
  readonly title: string
  readonly outcome: 'passed' | 'failed' | 'skipped'
}

/** From worst to best. */
export const STANDINGS = ['failed', 'missing', 'named in passing', 'claimed', 'defended'] as const
export type Standing = (typeof STANDINGS)[number]

/** A title that names more rows than this says of none of them what it asserts. */
const MOST_ROWS = 4

/**
 * How a row stands. `defended`: a test of it passed, and a broken line of test/mutants that names this row alone is there to
 * turn it red. `claimed`: a passing test names it among few, and nobody has seen that test fail for it. `named in passing`:
 * only titles of many rows name it. A skipped test says nothing.
 */
export const standingOf = (row: number, claims: ReadonlyArray<Claim>, brokenLines: ReadonlyArray<ReadonlyArray<RowName>>): Standing => {
  if (claims.some(({ outcome }) => outcome === 'failed')) return 'failed'
  const passed = claims.filter(({ outcome }) => outcome === 'passed')
  if (passed.length === 0) return 'missing'
  if (brokenLines.some((rows) => rows.length === 1 && rows[0] === row)) return 'defended'
  return passed.some(({ title }) => rowsOf(title).length <= MOST_ROWS) ? 'claimed' : 'named in passing'
}
