import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import test from 'ava'

/** Removes code, because brackets in code are not links. */
const withoutCode = (text: string): string => text.replaceAll(/^```[^]*?^```$/gm, '').replaceAll(/`[^`\n]*`/g, '``')

/** Returns the anchors of a page as GitHub derives them from headings; a repeated heading gets `-1`. */
const anchorsOf = (text: string): ReadonlySet<string> => {
  const seen = new Map<string, number>()
  return new Set(
    [...text.replaceAll(/^```[^]*?^```$/gm, '').matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => {
      const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
      const anchor = plain.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-')
      const times = seen.get(anchor) ?? 0
      seen.set(anchor, times + 1)
      return times === 0 ? anchor : `${anchor}-${times}`
    }),
  )
}

const targetsOf = (text: string): ReadonlyArray<string> =>
  [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)$/gm)].map(
    ([, inline, reference]) => inline ?? reference ?? '',
  )

/** Returns the links of a page to a missing file or heading. Links to other hosts are not checked. */
const deadLinks = (file: string, text: string): ReadonlyArray<string> =>
  targetsOf(text).filter((target) => {
    if (/^[a-z]+:/.test(target)) return false
    const [path = '', anchor] = target.split('#')
    const to = path === '' ? file : normalize(join(dirname(file), path))
    if (path !== '' && !existsSync(to)) return true
    if (anchor === undefined || statSync(path === '' ? dirname(file) : to).isDirectory() && path !== '') return false
    return !anchorsOf(path === '' ? text : readFileSync(to, 'utf8')).has(anchor)
  })

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
