/**
 * `npm run rows` prints the state of each requirement (row R1 to R172) and the tests that show it. It runs the tests
 * whose titles name rows: first those of test/e2e/service, then for R128–R159 also those of test/api/ws. From
 * test/nightly it runs only the tests of rows that are still missing, or all of them with `--long`. A row fails when
 * one of its tests fails, and is missing when no test passed; both end with exit code 1.
 * docs/decisions/0023-requirements-and-mutants.md explains the other states.
 */
import { globSync, readFileSync } from 'node:fs'
import { MUTANTS } from './nightly/mutants/all.ts'
import { rowsOf, standingOf, STANDINGS } from './support/running/rows.ts'
import type { Claim, Standing } from './support/running/rows.ts'
import { runAva } from './support/running/ava-runner.ts'

const [LAST, FIRST_OF_SOCKETS, LAST_OF_SOCKETS] = [172, 128, 159]
const ROWS = Array.from({ length: LAST }, (_, n) => n + 1)
const rowsOfMutants = MUTANTS.map(({ rows }) => rows)

const claims = new Map<number, Array<Claim>>(ROWS.map((row) => [row, []]))

const standing = (row: number): Standing => standingOf(row, claims.get(row) ?? [], rowsOfMutants)

/** Returns the rows that the titles of a file name. */
const rowsIn = (path: string): ReadonlyArray<number> =>
  [...readFileSync(path, 'utf8').matchAll(/\(\s*(['"`])([^\n]*?)\1/g)].flatMap(([, , title = '']) => rowsOf(title))

/** Runs the files of a folder that name one of the rows, and records their results. */
const run = async (folder: string, wanted: ReadonlySet<number>): Promise<void> => {
  const files = globSync(`test/${folder}/**/*.test.ts`)
    .filter((path) => rowsIn(path).some((row) => wanted.has(row)))
    .toSorted()
  if (files.length === 0) return
  const ava = runAva(['--timeout', '10m', ...files])
  let step = await ava.next()
  for (; step.done !== true; step = await ava.next()) {
    const { line, result } = step.value
    if (result === undefined) continue
    if (result.outcome === 'failed') console.log(line)
    const claim = { title: `${folder} › ${result.title}`, outcome: result.outcome }
    for (const row of rowsOf(result.title)) if (wanted.has(row)) claims.get(row)?.push(claim)
  }
  if (step.value !== 0)
    console.log(`test/${folder}: ava ended with code ${step.value}; rows without a result are missing`)
}

await run('e2e/service', new Set(ROWS))
await run('api/ws', new Set(ROWS.filter((row) => row >= FIRST_OF_SOCKETS && row <= LAST_OF_SOCKETS)))
const isAll = process.argv.includes('--long')
await run('nightly', new Set(isAll ? ROWS : ROWS.filter((row) => standing(row) === 'missing')))

for (const row of ROWS) {
  console.log(`R${row}: ${standing(row)}`)
  for (const { title, outcome } of claims.get(row) ?? [])
    console.log(`  ${outcome === 'passed' ? '' : `${outcome}: `}${title}`)
}
console.log('')
for (const state of STANDINGS.toReversed()) {
  const rows = ROWS.filter((row) => standing(row) === state)
  const names = rows.length === 0 || state === 'defended' ? '' : ` (${rows.map((row) => `R${row}`).join(' ')})`
  console.log(`${state}: ${rows.length} of ${LAST}${names}`)
}
if (ROWS.some((row) => ['failed', 'missing'].includes(standing(row)))) process.exitCode = 1
