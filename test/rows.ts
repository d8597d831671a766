/**
 * `npm run rows` prints the state of each requirement R1, R2, … and the tests that show it. It runs the tests that
 * test/rows.txt names: first those of test/e2e/service and test/api/ws, then from test/nightly only those of
 * requirements that are still missing, or all of them with `--long`. It ends with exit code 1 when a requirement is
 * missing or one of its tests failed (docs/decisions/0023-requirements-and-mutants.md).
 */
import { runAva } from './support/running/ava-runner.ts'
import { isReportedAs, readRows, standingOf, STANDINGS, type Claim, type Row } from './support/running/rows.ts'

const rows = readRows().filter(({ code }) => code.startsWith('R'))
const claims = new Map<string, Array<Claim>>(rows.map(({ code }) => [code, []]))
const standing = (code: string): (typeof STANDINGS)[number] => standingOf(claims.get(code) ?? [])

/** Runs the files of these rows, and records the results of their tests. */
const run = async (wanted: ReadonlyArray<Row>): Promise<void> => {
  if (wanted.length === 0) return
  const ava = runAva(['--timeout', '10m', ...new Set(wanted.map(({ path }) => path))])
  let step = await ava.next()
  for (; step.done !== true; step = await ava.next()) {
    const { line, result } = step.value
    if (result === undefined) continue
    if (result.outcome === 'failed') console.log(line)
    for (const row of wanted) if (isReportedAs(row, result.title)) claims.get(row.code)?.push(result)
  }
  if (step.value !== 0) console.log(`ava ended with code ${step.value}; requirements without a result are missing`)
}

const isLong = ({ path }: Row): boolean => path.startsWith('test/nightly/')
await run(rows.filter((row) => !isLong(row)))
const isAll = process.argv.includes('--long')
await run(rows.filter((row) => isLong(row) && (isAll || standing(row.code) === 'missing')))

for (const [code, tests] of claims) {
  console.log(`${code}: ${standing(code)}`)
  for (const { title, outcome } of tests) console.log(`  ${outcome === 'passed' ? '' : `${outcome}: `}${title}`)
}
console.log('')
for (const state of STANDINGS.toReversed()) {
  const codes = [...claims.keys()].filter((code) => standing(code) === state)
  console.log(`${state}: ${codes.length} of ${claims.size}${state === 'shown' ? '' : ` (${codes.join(' ')})`}`)
  if (state !== 'shown' && codes.length > 0) process.exitCode = 1
}
