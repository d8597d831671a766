/**
 * `npm test`: every check and test but the long ones; `npm run test:long`: those in test/long; `npm run test:unit`: those
 * that start no service, without the checks. Ends with
 * `N passed, N failed, N skipped` alone on a line, and names what was skipped.
 */
import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { createStatusLine } from '../interfaces/cli/status-line.ts'
import { canBeLoopbackOnly, loopbackOnly } from './loopback-only.ts'
import { bundled } from './support/bundles.ts'
import { runAva, type Wrap } from './support/tap.ts'

const long = process.argv.includes('--long')
const unit = process.argv.includes('--unit')
const UNITS = ['application', 'domain', 'pipeline', 'projections', 'relay']
/** Browsers and services first: what takes longest is not what all wait for at the end. The rest is small. */
const FIRST = ['console', 'service', 'bundled', 'sources', 'contracts', 'engine', 'compose']
const folderOf = (path: string): string => path.split('/')[1] ?? ''
const rank = (path: string): number => (FIRST.indexOf(folderOf(path)) + FIRST.length + 1) % (FIRST.length + 1)

const wanted = globSync('test/**/*.test.ts')
  .filter((path) => folderOf(path) !== 'bundled' && (folderOf(path) === 'long') === long && (!unit || UNITS.includes(folderOf(path))))
  .toSorted()
const files = long ? wanted : bundled(wanted).toSorted((a, b) => rank(a) - rank(b))

const status = createStatusLine()

interface Tally {
  readonly passed: number
  readonly failed: number
  readonly skipped: ReadonlyArray<string>
}

/** Hundreds of processes load the same files: what the first one compiled serves the others, which saves a tenth of all time. */
process.env['NODE_COMPILE_CACHE'] = join(import.meta.dirname, '..', 'node_modules', '.cache', 'compiled')

// A third of the processor time of the whole browser, which the long tests have.
if (!long) process.env['STENOLOG_TEST_BROWSER'] ??= 'chromium-headless-shell'

const exitOf = (child: ReturnType<typeof spawn>): Promise<number> =>
  new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code ?? 1))
  })

/** A command that passes or fails as a whole; it may print. */
const check = async (name: string, command: string, args: ReadonlyArray<string>): Promise<Tally> => {
  const code = await exitOf(spawn(command, args, { stdio: 'inherit' }))
  status.clear()
  console.log(`${code === 0 ? 'ok' : 'not ok'} - check: ${name}`)
  return { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: [] }
}

/** A test may take two minutes. */
const PATIENCE = 5 * 60_000

/** Runs ava and counts its results; everything but passing tests is printed as it comes. */
const tests = async (wrap: Wrap): Promise<Tally> => {
  const run = runAva(files, { wrap, ...(!long && { patience: PATIENCE }) })
  const counts = { passed: 0, failed: 0, skipped: 0 }
  const skipped: Array<string> = []
  for (let step = await run.next(); ; step = await run.next()) {
    status.clear()
    if (step.done === true) return { passed: counts.passed, failed: step.value !== 0 && counts.failed === 0 ? 1 : counts.failed, skipped }
    const { line, result } = step.value
    if (result === undefined || result.outcome === 'failed') console.log(line)
    if (result === undefined) continue
    counts[result.outcome] += 1
    if (result.outcome === 'skipped') skipped.push(result.title)
    status.show(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`, result.title)
  }
}

const checks = (): ReadonlyArray<Promise<Tally>> => [
  check('types', 'tsc', []),
  check('types of the console', 'tsc', ['-p', 'interfaces/console']),
  check('lint', 'oxlint', ['--type-aware', '--deny-warnings']),
  check('unused exports and dependencies', 'knip', []),
]

// Services are killed in tests, and so never write down what they compiled.
await exitOf(spawn('node', ['-e', "import('./interfaces/compose.ts')"], { stdio: 'inherit' }))
const isAlone = await canBeLoopbackOnly()
// Beside the first tests, most of which wait for services to start.
const checked = long || unit ? [] : checks()
const tallies = [await tests(isAlone ? loopbackOnly : (command) => command), ...(await Promise.all(checked))]
tallies.push({ passed: isAlone ? 1 : 0, failed: 0, skipped: isAlone ? [] : ['B39: the tests see no network but loopback'] })

const skipped = tallies.flatMap((tally) => tally.skipped).toSorted()
for (const name of skipped) console.log(`skipped: ${name}`)
const passed = tallies.reduce((sum, tally) => sum + tally.passed, 0)
const failed = tallies.reduce((sum, tally) => sum + tally.failed, 0)
console.log(`${passed} passed, ${failed} failed, ${skipped.length} skipped`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1
