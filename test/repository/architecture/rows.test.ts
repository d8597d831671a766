import { existsSync, readFileSync } from 'node:fs'
import test from 'ava'
import { Visitor, parseSync } from 'oxc-parser'
import { isReportedAs, readRows, standingOf, type Claim } from '../../support/running/rows.ts'

const rows = readRows()

/** Returns the strings of a file, with `…` for each `${…}`. */
const stringsIn = (path: string): ReadonlySet<string> => {
  const strings = new Set<string>()
  if (!existsSync(path)) return strings
  new Visitor({
    Literal: ({ value }) => void (typeof value === 'string' && strings.add(value)),
    TemplateLiteral: ({ quasis }) => void strings.add(quasis.map(({ value }) => value.cooked).join('…')),
  }).visit(parseSync(path, readFileSync(path, 'utf8')).program)
  return strings
}

test('each line of test/rows.txt names a test that exists', (t) => {
  const strings = new Map([...new Set(rows.map(({ path }) => path))].map((path) => [path, stringsIn(path)]))
  t.deepEqual(rows.filter(({ path, title }) => strings.get(path)?.has(title) !== true), [])
})

test('each row of the requirements is shown by tests that see the whole service, or sockets', (t) => {
  const isSocketRow = (code: string): boolean => Number(code.slice(1)) >= 128 && Number(code.slice(1)) <= 159
  const counts = (code: string): RegExp =>
    isSocketRow(code) ? /^test\/(e2e\/service|nightly|api\/ws)\// : /^test\/(e2e\/service|nightly)\//
  const listed = rows.filter(({ code }) => code.startsWith('R'))
  t.deepEqual(listed.filter(({ code, path }) => !counts(code).test(path)), [])
  const required = readFileSync('docs/requirements.md', 'utf8').matchAll(/^- \*\*(R\d+)\*\*/gm)
  t.deepEqual([...required].flatMap(([, code = '']) => (listed.some((row) => row.code === code) ? [] : [code])), [])
})

test('a reported title begins with a part of the path, and … stands for any text', (t) => {
  const row = { code: 'D1', path: 'test/api/http/cors.test.ts', title: '… of a (page) is refused' }
  for (const title of ['a call of a (page) is refused', 'http › cors › x of a (page) is refused'])
    t.true(isReportedAs(row, title), title)
  for (const title of ['ws › cors › of a page is refused', 'x of a (page) is refused twice', 'x of a page is refused'])
    t.false(isReportedAs(row, title), title)
})

test('a requirement is shown when a test of it passed and none failed', (t) => {
  const claim = (outcome: Claim['outcome']): Claim => ({ title: 'x', outcome })
  t.is(standingOf([]), 'missing')
  t.is(standingOf([claim('skipped')]), 'missing')
  t.is(standingOf([claim('passed'), claim('skipped')]), 'shown')
  t.is(standingOf([claim('passed'), claim('failed')]), 'failed')
})
