import assert from 'node:assert/strict'
import { cp, mkdtemp, readFile, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Mutant } from '../../nightly/mutants/mutant.ts'
import { namesRow } from './rows.ts'
import type { RowName } from './rows.ts'
import { runAva } from './ava-runner.ts'
import type { TestResult } from './ava-runner.ts'

/** What a file's tests of some rows said. */
export interface Run {
  readonly results: ReadonlyArray<TestResult>
  /** Titles of those among them that were given up: they never came to an end. */
  readonly unended: ReadonlyArray<string>
  /** The file was loaded, and all its tests came to an end or were given up one by one. */
  readonly isWhole: boolean
  /** What ava said of failures, for a person to read. */
  readonly told: ReadonlyArray<string>
}

/**
 * `caught`: a test ran to its end and failed. `survived`: all ran to their ends and passed. Everything else is `not judged`:
 * a file that does not load or a test that waits for ever shows that something is broken, and nothing of what tests assert.
 */
export type Verdict = 'caught' | 'survived' | 'not judged'

export const verdictOf = ({ results, unended, isWhole }: Run): Verdict => {
  if (results.some(({ title, outcome }) => outcome === 'failed' && !unended.includes(title))) return 'caught'
  const areAllPassed = results.length > 0 && results.every(({ outcome }) => outcome === 'passed')
  return isWhole && areAllPassed ? 'survived' : 'not judged'
}

/** A copy of the working tree that may be broken. */
export interface BrokenCopy {
  /** What those tests of a file say whose titles name one of the rows; the tree is as it was copied. */
  readonly run: (test: string, rows: ReadonlyArray<RowName>) => Promise<Run>
  /** The same with the mutant's line broken. */
  readonly runBroken: (mutant: Mutant) => Promise<Run>
  readonly remove: () => Promise<void>
}

/** Linked, not copied: large, and nobody writes there. */
const LINKED = new Set(['node_modules', 'models'])
const LEFT_OUT = new Set(['.git', 'data'])

/** What ava says of a test that it gave up: by the test's own `t.timeout`, or since nothing is left that could end it. */
const GIVEN_UP = /^ +message: (Test timeout exceeded|Promise returned by test never resolved)$/

/** The tests of a project in `root`; `patience` is ava's: how long no test may end before all are given up. */
export const brokenCopyAt = (root: string, { patience = '2m' } = {}): BrokenCopy => {
  const run: BrokenCopy['run'] = async (test, rows) => {
    const results: Array<TestResult> = []
    const unended: Array<string> = []
    const told: Array<string> = []
    const matches = [...new Set(rows)].map((row) => `--match=*${typeof row === 'number' ? `R${row}` : row}*`)
    // --match knows no end of a number, and ranges do not name all their rows.
    const args = [`--timeout=${patience}`, ...matches, '--match=*–R*', '--match=* to R*', test]
    let latest: TestResult | undefined
    let planned = 0
    let reported = 0
    const ava = runAva(args, { cwd: root, quiet: true })
    let step = await ava.next()
    for (; step.done !== true; step = await ava.next()) {
      const { line, result } = step.value
      latest = result ?? latest
      if (result !== undefined) reported += 1
      if (result !== undefined && namesRow(result.title, rows)) results.push(result)
      if (GIVEN_UP.test(line) && latest !== undefined) unended.push(latest.title)
      planned = Number(/^1\.\.(\d+)/.exec(line)?.[1] ?? planned)
      if (result?.outcome !== 'passed') told.push(line)
    }
    // The plan stands last: ava's TAP gets there from no test that waits for ever, and what never loads is no part of it.
    return { results, unended, isWhole: planned > 0 && planned === reported, told }
  }

  return {
    run,
    runBroken: async ({ file, before, after, test, rows }) => {
      const path = join(root, file)
      const whole = await readFile(path, 'utf8')
      assert.equal(whole.split(before).length, 2, `${file} holds ${JSON.stringify(before)} not exactly once`)
      await writeFile(path, whole.replace(before, () => after))
      try {
        return await run(test, rows)
      } finally {
        await writeFile(path, whole)
      }
    },
    remove: () => rm(root, { recursive: true, force: true }),
  }
}

/** Copies the working tree of the current directory. */
export const copyWorkingTree = async (): Promise<BrokenCopy> => {
  const root = await mkdtemp(join(tmpdir(), 'stenolog-mutants-'))
  for (const name of await readdir('.'))
    if (LINKED.has(name)) await symlink(await realpath(name), join(root, name))
    else if (!LEFT_OUT.has(name)) await cp(name, join(root, name), { recursive: true })
  return brokenCopyAt(root)
}
