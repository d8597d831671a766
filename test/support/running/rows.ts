import { readFileSync } from 'node:fs'

/** A line of test/rows.txt: a test that shows a requirement. */
export interface Row {
  /** A code of docs/requirements.md. */
  readonly code: string
  readonly path: string
  /** `…` stands for the parts of a title that vary. */
  readonly title: string
}

const LINE = /^(\w+) (test\/\S+\.ts): (.+)$/

/** Parses test/rows.txt. Throws on a line of another form. */
export const readRows = (): ReadonlyArray<Row> =>
  readFileSync('test/rows.txt', 'utf8').trimEnd().split('\n').map((line) => {
    const [, code, path, title] = LINE.exec(line) ?? []
    if (code === undefined || path === undefined || title === undefined) throw new Error(`test/rows.txt: ${line}`)
    return { code, path, title }
  })

/** Returns whether ava reports the test of a row under this title. Part of the path may precede it: `http › cors ›`. */
export const isReportedAs = ({ path, title }: Row, reported: string): boolean => {
  const names = path.replace(/\.test\.ts$/, '').split('/')
  const words = title.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&').replaceAll('…', '.*')
  return names.some((_, from) => new RegExp(`^(?:${names.slice(from).join(' › ')} › )?${words}$`).test(reported))
}

/** The outcome of a test that shows a requirement. */
export interface Claim {
  readonly title: string
  readonly outcome: 'passed' | 'failed' | 'skipped'
}

/** From worst to best. */
export const STANDINGS = ['failed', 'missing', 'shown'] as const

/** A requirement is missing when no test of it passed: a skipped test shows nothing. */
export const standingOf = (claims: ReadonlyArray<Claim>): (typeof STANDINGS)[number] => {
  if (claims.some(({ outcome }) => outcome === 'failed')) return 'failed'
  return claims.some(({ outcome }) => outcome === 'passed') ? 'shown' : 'missing'
}
