/**
 * Names the tests of a mutant: the number of a row (a requirement R1 to R172 in docs/requirements.md), another code
 * (`D58`, `RECONNECT_GRACE`), or some words of a test's title.
 */
export type RowName = number | string

/** The codes in square brackets at the end of a test's title. */
const bracketOf = (title: string): string => /\[([^[\]]*)\]$/.exec(title)?.[1] ?? ''

/**
 * A separate word of a family letter and a number, or a range of such words. Excludes URL escapes (`%A4`), colours, and
 * product names (NVIDIA A100, Amazon S3).
 */
const CODE =
  /(?<![\w%#]|(?:NVIDIA|Tesla|Amazon|AWS)\s)([ABDFRS])(\d{1,3})(?![\w%])(?:\s*(?:–|-|to)\s*\1(\d{1,3})(?!\w))?/g

/** The codes of docs/requirements.md in a text. A range (`R49–R53`, `R16 to R18`) contains all codes between. */
export const codesIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(CODE)].flatMap(([, family = '', first, last]) => {
    const from = Number(first)
    return Array.from({ length: Number(last ?? from) - from + 1 }, (_, n) => `${family}${from + n}`)
  })

/** The rows (R codes) in the brackets of a test's title: `… [R57 R58]`, `… [R49–R53 D6]`. */
export const rowsOf = (title: string): ReadonlyArray<number> =>
  codesIn(bracketOf(title)).flatMap((code) => (code.startsWith('R') ? [Number(code.slice(1))] : []))

/** Returns whether a test's title names one of the rows or codes, or contains one of the other texts. */
export const namesRow = (title: string, rows: ReadonlyArray<RowName>): boolean => {
  const words = title.split(/[^\w-]+/)
  return rows.some((row) => {
    if (typeof row === 'number') return rowsOf(title).includes(row)
    return row.includes(' ') ? title.includes(row) : words.includes(row)
  })
}

/** The outcome of a test whose title names a row. */
export interface Claim {
  readonly title: string
  readonly outcome: 'passed' | 'failed' | 'skipped'
}

/** From worst to best. */
export const STANDINGS = ['failed', 'missing', 'named in passing', 'claimed', 'defended'] as const
export type Standing = (typeof STANDINGS)[number]

/** A title with more rows does not say what it asserts about each of them. */
const MAX_ROWS = 4

/**
 * Rates how well the tests cover a row. `defended`: a test of the row passed, and a mutant (a wrong line that a test
 * must detect) names this row only. `claimed`: a passing test names the row and few others. `named in passing`: only
 * titles with many rows name it. Skipped tests do not count.
 */
export const standingOf = (
  row: number,
  claims: ReadonlyArray<Claim>,
  brokenLines: ReadonlyArray<ReadonlyArray<RowName>>,
): Standing => {
  if (claims.some(({ outcome }) => outcome === 'failed')) return 'failed'
  const passed = claims.filter(({ outcome }) => outcome === 'passed')
  if (passed.length === 0) return 'missing'
  if (brokenLines.some((rows) => rows.length === 1 && rows[0] === row)) return 'defended'
  return passed.some(({ title }) => rowsOf(title).length <= MAX_ROWS) ? 'claimed' : 'named in passing'
}
