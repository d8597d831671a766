/**
 * `npm test` runs all checks and all tests except test/nightly. `npm run test:long` runs test/nightly, or the folders
 * that it gets as arguments: `npm run test:long -- crash sources`. `npm run test:unit` runs test/unit or some of its
 * folders, without the checks. Each ends with the line `N passed, N failed, N skipped`, after the names of all skipped
 * tests.
 */
import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { createStatusLine } from '../interfaces/cli/status-line.ts'
import { canBeLoopbackOnly, loopbackOnly } from './loopback-only.ts'
import { oversizesIn, productFiles, sizeReport } from './repository/architecture/sizes.ts'
import { bundled } from './support/running/bundles.ts'
import { runAva, type Wrap } from './support/running/ava-runner.ts'

const long = process.argv.includes('--long')
const unit = process.argv.includes('--unit')
const folders = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
/** Browsers and services start first: they take longest. The many small files come last. */
const FIRST = ['e2e/console', 'e2e/service', 'bundled', 'e2e', 'contract', 'api']
const rank = (path: string): number => {
  const found = FIRST.findIndex((folder) => path.startsWith(`test/${folder}/`))
  return found < 0 ? FIRST.length : found
}

const wantedFolders = (): ReadonlyArray<string> => {
  if (unit) return folders.length === 0 ? ['unit'] : folders.map((folder) => `unit/${folder}`)
  if (!long) return ['unit', 'repository', 'simulation', 'contract', 'api', 'e2e']
  return folders.length === 0 ? ['nightly'] : folders.map((folder) => `nightly/${folder}`)
}

const wanted = wantedFolders().flatMap((folder) => globSync(`test/${folder}/**/*.test.ts`)).toSorted()
const files = long ? wanted : bundled(wanted).toSorted((a, b) => rank(a) - rank(b))

const status = createStatusLine()

interface Tally {
  readonly passed: number
  readonly failed: number
  readonly skipped: ReadonlyArray<string>
}

// Hundreds of processes load the same files. With a shared compile cache the whole run takes a tenth less time.
process.env['NODE_COMPILE_CACHE'] = join(import.meta.dirname, '..', 'node_modules', '.cache', 'compiled')

// The headless shell needs a third of the processor time of the full browser. The long tests use the full browser.
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

/** Milliseconds without output after which ava is killed. A single test may take two minutes. */
const PATIENCE_MS = 5 * 60_000

/** Runs ava and counts its results; everything but passing tests is printed as it comes. */
const tests = async (wrap: Wrap): Promise<Tally> => {
  const run = runAva(files, { wrap, ...(!long && { patience: PATIENCE_MS }) })
  const counts = { passed: 0, failed: 0, skipped: 0 }
  const skipped: Array<string> = []
  for (let step = await run.next(); ; step = await run.next()) {
    status.clear()
    if (step.done === true)
      return { passed: counts.passed, failed: step.value !== 0 && counts.failed === 0 ? 1 : counts.failed, skipped }
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

// Tests kill their services before these write the compile cache, so this process fills it first.
if (!unit) await exitOf(spawn('node', ['-e', "import('./interfaces/compose.ts')"], { stdio: 'inherit' }))
const isLoopbackOnly = await canBeLoopbackOnly()
// The checks run next to the first tests, because most of these wait for services to start.
const checked = long || unit ? [] : checks()
const tallies = [await tests(isLoopbackOnly ? loopbackOnly : (command) => command), ...(await Promise.all(checked))]
tallies.push({
  passed: isLoopbackOnly ? 1 : 0,
  failed: 0,
  skipped: isLoopbackOnly ? [] : ['the tests see no network but loopback'],
})

if (checked.length > 0) for (const line of sizeReport(oversizesIn(productFiles()))) console.log(line)
const skipped = tallies.flatMap((tally) => tally.skipped).toSorted()
for (const name of skipped) console.log(`skipped: ${name}`)
const passed = tallies.reduce((sum, tally) => sum + tally.passed, 0)
const failed = tallies.reduce((sum, tally) => sum + tally.failed, 0)
console.log(`${passed} passed, ${failed} failed, ${skipped.length} skipped`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1
