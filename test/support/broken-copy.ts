import assert from 'node:assert/strict'
import { cp, mkdtemp, readFile, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Mutant } from '../mutants/mutant.ts'
import { namesOne } from './rows.ts'
import type { RowName } from './rows.ts'
import { runAva } from './tap.ts'
import type { TestResult } from './tap.ts'

/** A copy of the working tree that may be broken. */
export interface BrokenCopy {
  /** The results of those tests of a file whose titles name one of the rows; the tree is as it was copied. */
  readonly run: (test: string, rows: ReadonlyArray<RowName>) => Promise<ReadonlyArray<TestResult>>
  /** The same with the mutant's line broken. */
  readonly runBroken: (mutant: Mutant) => Promise<ReadonlyArray<TestResult>>
  readonly remove: () => Promise<void>
}

/** Linked, not copied: large, and nobody writes there. */
const LINKED = new Set(['node_modules', 'models'])
const LEFT_OUT = new Set(['.git', 'data'])

/** Copies the working tree of the current directory. */
export const copyWorkingTree = async (): Promise<BrokenCopy> => {
  const root = await mkdtemp(join(tmpdir(), 'stenolog-mutants-'))
  for (const name of await readdir('.'))
    if (LINKED.has(name)) await symlink(await realpath(name), join(root, name))
    else if (!LEFT_OUT.has(name)) await cp(name, join(root, name), { recursive: true })

  const run: BrokenCopy['run'] = async (test, rows) => {
    const results: Array<TestResult> = []
    const matches = [...new Set(rows)].map((row) => `--match=*${typeof row === 'number' ? `R${row}` : row}*`)
    // --match knows no end of a number, and ranges do not name all their rows.
    let ended = false
    for await (const { line, result } of runAva(['--timeout=3m', ...matches, '--match=*–R*', '--match=* to R*', test], { cwd: root, quiet: true })) {
      if (result !== undefined && namesOne(result.title, rows)) results.push(result)
      if (/^1\.\.\d/.test(line)) ended = true
    }
    // The plan stands last. ava's reporter of TAP does not get there from a test that waits for ever.
    return ended ? results : [...results, { title: 'a test that did not end', outcome: 'failed' }]
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
