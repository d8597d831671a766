import { existsSync, globSync, readFileSync } from 'node:fs'
import test from 'ava'

/** A path from the root in backticks; `{a,b}` stands for several paths. */
const PATHS = /`((?:domain|application|infrastructure|projections|interfaces|test|tools|bench|docs)\/[\w./{},*-]*)`/g

const expanded = (path: string): ReadonlyArray<string> => {
  const [, before, alternatives, after] = /^(.*?)\{([^}]*)\}(.*)$/.exec(path) ?? []
  if (alternatives === undefined) return [path]
  return alternatives.split(',').flatMap((part) => expanded(`${before}${part}${after}`))
}

const missingIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(PATHS)].flatMap(([, path = '']) => expanded(path))
    .filter((path) => (path.includes('*') ? globSync(path).length === 0 : !existsSync(path)))

test('documents name existing files and folders', (t) => {
  const texts = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md')].map((file) => ({
    file,
    text: readFileSync(file, 'utf8'),
  }))
  const missing = texts.flatMap(({ file, text }) => missingIn(text).map((path) => `${file}: ${path}`))
  t.true(texts.length > 30)
  t.deepEqual(missing, [])
  t.deepEqual(missingIn('see `application/{log,nowhere}/` and `interfaces/main.ts`'), ['application/nowhere/'])
})
