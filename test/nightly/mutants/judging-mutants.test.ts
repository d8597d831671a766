import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { brokenCopyAt, verdictOf } from '../../support/running/broken-copy.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const TESTS = `
import test from 'ava'
import { answer, count } from '../product.ts'
test('the answer is 42', async (t) => t.is(await answer(), 42))
test('the count is a number', (t) => t.is(typeof count, 'number'))
`

const PRODUCT = 'export const count = 1\nexport const answer = async () => 42\n'
const WORDS = ['the answer is 42']

/** Writes a project with two exports and two tests. */
const project = async (root: string): Promise<void> => {
  const ava = { files: ['test/*.test.ts'], extensions: { ts: 'module' }, workerThreads: false }
  await mkdir(join(root, 'test'))
  await symlink(await realpath('node_modules'), join(root, 'node_modules'))
  await writeFile(join(root, 'package.json'), JSON.stringify({ type: 'module', ava }))
  await writeFile(join(root, 'product.ts'), PRODUCT)
  await writeFile(join(root, 'test/product.test.ts'), TESTS)
}

const BREAKAGES = [
  { effect: 'fails a test', before: '42', after: '41', verdict: 'caught' },
  {
    effect: 'fails a test with an error outside our code',
    before: '42',
    after: "fetch('http://127.0.0.1:1')",
    verdict: 'caught',
  },
  { effect: 'fails none of the named tests', before: 'count = 1', after: "count = '1'", verdict: 'survived' },
  {
    effect: 'never completes',
    before: '42',
    after: 'new Promise(() => setInterval(() => 0, 10))',
    verdict: 'not judged',
  },
  { effect: 'leaves no pending work', before: '42', after: 'new Promise(() => 0)', verdict: 'not judged' },
  { effect: 'removes an import of the tests', before: 'answer =', after: 'reply =', verdict: 'not judged' },
  { effect: 'breaks the syntax', before: 'count = 1', after: 'count = = 1', verdict: 'not judged' },
  { effect: 'ends the process', before: '42', after: 'process.exit(1)', verdict: 'not judged' },
] as const

test('a mutant is caught only by a test that completes and fails', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  await project(path)
  const copy = brokenCopyAt(path, { patience: '10s' })
  const unbroken = await copy.run('test/product.test.ts', WORDS)
  t.deepEqual(unbroken.results, [{ title: WORDS[0], outcome: 'passed' }], unbroken.output.join('\n'))
  for (const { effect, before, after, verdict } of BREAKAGES) {
    const source = PRODUCT.replace(before, after)
    const run = await copy.runBroken({ path: 'product.ts', source, titles: WORDS, test: 'test/product.test.ts' })
    t.is(verdictOf(run), verdict, `a line that ${effect}: ${JSON.stringify(run)}`)
  }
})
