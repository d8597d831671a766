import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runAva, type TestResult } from './ava-runner.ts'

/** The run of the named tests of one file. */
export interface Run {
  readonly results: ReadonlyArray<TestResult>
  /** Titles of the tests that did not end. */
  readonly timedOut: ReadonlyArray<string>
  /** The file was loaded, and ava reported a result for each of its tests. */
  readonly isComplete: boolean
  /** ava's output about failures, for people. */
  readonly output: ReadonlyArray<string>
}

/**
 * `caught`: a test ended and failed. `survived`: all tests ended and passed. `not judged`: everything else. A file that
 * does not load or a test that never ends proves nothing about the assertions.
 */
export type Verdict = 'caught' | 'survived' | 'not judged'

export const verdictOf = ({ results, timedOut, isComplete }: Run): Verdict => {
  if (results.some(({ title, outcome }) => outcome === 'failed' && !timedOut.includes(title))) return 'caught'
  const allPassed = results.length > 0 && results.every(({ outcome }) => outcome === 'passed')
  return isComplete && allPassed ? 'survived' : 'not judged'
}

/** A file with an error, and the tests that must notice it. */
export interface Broken {
  readonly path: string
  /** The whole text of the file, with the error. */
  readonly source: string
  readonly test: string
  /** Parts of the titles of these tests. */
  readonly titles: ReadonlyArray<string>
}

/** A copy of the working tree, in which mutants are tested. */
export interface BrokenCopy {
  /** Runs the tests of a file whose titles contain one of the texts, without a mutant. */
  readonly run: (test: string, titles: ReadonlyArray<string>) => Promise<Run>
  /** Runs the tests while the file is broken. */
  readonly runBroken: (broken: Broken) => Promise<Run>
  readonly remove: () => Promise<void>
}

/** Linked instead of copied, because they are large and never written. */
const LINKED = new Set(['node_modules', 'models'])
const LEFT_OUT = new Set(['.git', 'data'])

/** ava's message for a test that exceeded `t.timeout`, or that can never end. */
const TIMED_OUT = /^ +message: (Test timeout exceeded|Promise returned by test never resolved)$/

/** Uses the project in `root`. `patience`: ava's timeout without a finished test. */
export const brokenCopyAt = (root: string, { patience = '2m' } = {}): BrokenCopy => {
  const run: BrokenCopy['run'] = async (test, titles) => {
    const results: Array<TestResult> = []
    const timedOut: Array<string> = []
    const output: Array<string> = []
    const matches = [...new Set(titles)].map((title) => `--match=*${title}*`)
    const args = [`--timeout=${patience}`, ...matches, test]
    let latest: TestResult | undefined
    let planned = 0
    const ava = runAva(args, { cwd: root, quiet: true })
    let step = await ava.next()
    for (; step.done !== true; step = await ava.next()) {
      const { line, result } = step.value
      latest = result ?? latest
      if (result !== undefined) results.push(result)
      if (TIMED_OUT.test(line) && latest !== undefined) timedOut.push(latest.title)
      planned = Number(/^1\.\.(\d+)/.exec(line)?.[1] ?? planned)
      if (result?.outcome !== 'passed') output.push(line)
    }
    // ava prints the plan last, so it is missing when a test waits forever. A file that does not load is not in it.
    return { results, timedOut, isComplete: planned > 0 && planned === results.length, output }
  }

  return {
    run,
    runBroken: async ({ path, source, test, titles }) => {
      const file = join(root, path)
      const original = await readFile(file, 'utf8')
      await writeFile(file, source)
      try {
        return await run(test, titles)
      } finally {
        await writeFile(file, original)
      }
    },
    remove: () => rm(root, { recursive: true, force: true }),
  }
}

/** Copies the working tree of the current directory, and links the folder `../shared` next to the copy. */
export const copyWorkingTree = async (): Promise<BrokenCopy> => {
  const folder = await mkdtemp(join(tmpdir(), 'stenolog-mutants-'))
  const root = join(folder, 'checkout')
  await mkdir(root)
  if (existsSync('../shared')) await symlink(await realpath('../shared'), join(folder, 'shared'))
  for (const name of await readdir('.'))
    if (LINKED.has(name)) await symlink(await realpath(name), join(root, name))
    else if (!LEFT_OUT.has(name)) await cp(name, join(root, name), { recursive: true })
  return { ...brokenCopyAt(root), remove: () => rm(folder, { recursive: true, force: true }) }
}
