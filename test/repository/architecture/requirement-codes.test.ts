import { readFileSync } from 'node:fs'
import test from 'ava'
import { citingFiles, citingOf, codesIn, misplacedRules, rulesOf, unknownCodes } from './codes.ts'

/** Parsing all files takes seconds, so they are read once. */
const citing = citingFiles()
const rules = rulesOf(readFileSync('docs/requirements.md', 'utf8'))

const LAST_ROW = rules.filter(({ family }) => family === 'R').length

/** Returns a code without a rule. It is built from parts, so this file itself does not cite it. */
const invented = (family: string): string => `${family}${'9'.repeat(3)}`

test('every code in the repository is a rule of docs/requirements.md', (t) => {
  const paths = new Set(citing.map(({ path }) => path))
  for (const path of ['test/rows.txt', 'docs/requirements.md', 'docs/decisions/README.md'])
    t.true(paths.has(path), `${path} was read`)
  t.deepEqual(unknownCodes(citing, rules), [])
})

test('code and titles of tests explain rules instead of citing their codes', (t) => {
  const isAboutCodes = /^test\/(?:.*\/)?(?:rows|codes|requirement-codes)(?:\.test)?\.ts$/
  t.deepEqual(citing.filter(({ path }) => path.endsWith('.ts') && !isAboutCodes.test(path)), [])
  t.deepEqual(citingOf('domain/x.ts', '// As R12 says.\n').codes, ['R12'])
})

test('each rule appears once, in its family, in order, as one sentence on one line', (t) => {
  t.true(rules.length > 300, 'the rules were found')
  t.deepEqual(misplacedRules(rules), [])
})

test('the check reports unknown codes in comments, titles, ranges and documents', (t) => {
  const [first, second] = [invented('R'), invented('S')]
  const reported = (path: string, text: string): ReadonlyArray<string> => unknownCodes([citingOf(path, text)], rules)
  const both = [`domain/x.ts: ${first}`, `domain/x.ts: ${second}`]
  t.deepEqual(reported('domain/x.ts', `/** As ${first} says. */\nexport const x = 1 // ${second}\n`), both)
  t.deepEqual(reported('test/x.test.ts', `test('R12, ${first}: x', () => {})`), [`test/x.test.ts: ${first}`])
  t.deepEqual(reported('test/x.test.ts', `test(\`${first}: \${x}\`, () => {})`), [`test/x.test.ts: ${first}`])
  t.deepEqual(reported('docs/x.md', `# X\n\nSee (${first}), ${second}.`), [
    `docs/x.md: ${first}`,
    `docs/x.md: ${second}`,
  ])
  t.is(reported('docs/x.md', `R158–${first}`).length, 999 - LAST_ROW)
})

test('text that only resembles a code is ignored', (t) => {
  t.deepEqual(codesIn('R49–R51; (S3), A4’s R16 to R18.'), ['R49', 'R50', 'R51', 'S3', 'A4', 'R16', 'R17', 'R18'])
  t.deepEqual(codesIn('%E0%A4%A #F00 an NVIDIA A100 or Amazon S3, A-1, B2B, xR12, R1234, C12, 0xA1'), [])
  const named = `export const A4 = '${invented('A')}'`
  t.deepEqual(citingOf('domain/x.ts', named).codes, [], 'identifiers and strings of the product cite no code')
})

test('the check reports rules that are repeated, misplaced, out of order or not a sentence', (t) => {
  const begun = ['**R2** This is one.', '**R1** This is another.', '**R2** And once more.']
  const lines = [...begun, '**D1** And this too.', '**R9** none']
  const text = `## R: rows\n\n${lines.map((line) => `- ${line}\n`).join('')}`
  t.deepEqual(misplacedRules(rulesOf(text)), [
    'R1 is out of order', 'R2 appears twice', 'D1 is in another family', 'R9 is not one sentence on one line',
  ])
})
