import { existsSync, globSync, readFileSync } from 'node:fs'
import test from 'ava'
import { deadLinks } from './links.ts'

const PAGES = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', ...globSync('docs/**/*.md')]

test('every link in the documents leads to a file, and every anchor to a heading', (t) => {
  const dead = PAGES.flatMap((file) =>
    deadLinks(file, readFileSync(file, 'utf8')).map((target) => `${file}: ${target}`),
  )
  t.true(PAGES.length > 80)
  t.deepEqual(dead, [])
})

test('the check reports links to missing files and anchors', (t) => {
  const page =
    '# One\n## Two words, `three`\n[a](#one) [b](#two-words-three) [c](#four) [d](nowhere.md) ' +
    '[e](start/install.md#with-npm) [f](start/install.md#not-there)'
  t.deepEqual(deadLinks('docs/x.md', page), ['#four', 'nowhere.md', 'start/install.md#not-there'])
  t.deepEqual(deadLinks('docs/x.md', '`[a](nowhere.md)` and [b](https://example.org/x#y)'), [])
})

test('docs/README.md lists every page', (t) => {
  const map = readFileSync('docs/README.md', 'utf8')
  const unnamed = globSync('docs/{start,guides,reference,operate,project}/*.md').filter(
    (file) => !map.includes(`(${file.slice('docs/'.length)})`),
  )
  t.deepEqual(unnamed, [])
})

test('every page that the product mentions exists', (t) => {
  const named = globSync(['{interfaces,infrastructure,bench}/**/*.ts']).flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\bdocs\/[\w/-]+\.md\b/g)].map(([page]) => ({ file, page })),
  )
  t.true(named.length > 10)
  t.deepEqual(named.filter(({ page }) => !existsSync(page)), [])
})
