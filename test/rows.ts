/**
 * `npm run rows`: which rows of the interface's requirements have a passing test that is named after them. It runs those tests:
 * for R1–R127 such as talk to the whole service over HTTP (test/service and, where they take long, test/long), for the rows of
 * the WebSocket also test/ws, whose sockets are real. A row counts when one of its tests passed and none failed; a test that was
 * skipped proves nothing. See docs/decisions/0023-rows-and-mutants.md.
 */
import { globSync, readFileSync } from 'node:fs'
import { rowsOf } from './support/rows.ts'
import { runAva } from './support/tap.ts'

const GROUPS = [
  { name: 'R1–R127', first: 1, last: 127, folders: ['service', 'long'] },
  { name: 'R128–R159', first: 128, last: 159, folders: ['service', 'long', 'ws'] },
] as const

const TITLE_WITH_ROW = /\(\s*(['"`])(?:R\d|[^'"`:\n]*\bR\d)/

const passed = new Map<string, Set<number>>()
const failed = new Set<number>()
const files = globSync('test/{service,long,ws}/**/*.test.ts').filter((path) => TITLE_WITH_ROW.test(readFileSync(path, 'utf8'))).toSorted()
const started = Date.now()
const run = runAva(['--timeout', '10m', ...files])
let step = await run.next()
for (; step.done !== true; step = await run.next()) {
  const { line, result } = step.value
  if (result === undefined) continue
  if (result.outcome === 'failed') console.log(line)
  const [folder = ''] = result.title.split(' › ')
  for (const row of rowsOf(result.title)) {
    if (result.outcome === 'failed') failed.add(row)
    if (result.outcome === 'passed') passed.set(folder, (passed.get(folder) ?? new Set()).add(row))
  }
}
if (step.value !== 0) console.log(`ava ended with ${step.value}: where it told no results, rows are missing`)

let complete = true
for (const { name, first, last, folders } of GROUPS) {
  const rows = Array.from({ length: last - first + 1 }, (_, n) => first + n)
  const missing = rows.filter((row) => failed.has(row) || !folders.some((folder) => passed.get(folder)?.has(row)))
  console.log(`${name}: ${rows.length - missing.length} of ${rows.length}`)
  if (missing.length > 0) console.log(`  missing: ${missing.map((row) => `R${row}`).join(' ')}`)
  if (missing.length > 0) complete = false
}
console.log(`${files.length} files in ${Math.round((Date.now() - started) / 1000)} s`)
process.exitCode = complete ? 0 : 1
