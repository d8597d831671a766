import { globSync, readFileSync } from 'node:fs'
import { Visitor, parseSync } from 'oxc-parser'
import { LAYERS } from './imports.ts'

/**
 * A separate word of a family letter and a number, or a range of such words. Excludes URL escapes (`%A4`), colours, and
 * product names (NVIDIA A100, Amazon S3).
 */
const CODE =
  /(?<![\w%#]|(?:NVIDIA|Tesla|Amazon|AWS)\s)([ABDFRS])(\d{1,3})(?![\w%])(?:\s*(?:–|-|to)\s*\1(\d{1,3})(?!\w))?/g

/** The codes of docs/requirements.md in a text. A range (`R49–R53`, `R16 to R18`) contains all codes between. */
export const codesIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(CODE)].flatMap(([, family = '', first, last]) => {
    const from = Number(first)
    return Array.from({ length: Number(last ?? from) - from + 1 }, (_, n) => `${family}${from + n}`)
  })

/** A file and the codes of the rules that it cites. */
export interface Citing {
  readonly path: string
  readonly codes: ReadonlyArray<string>
}

/** Returns the texts of a file that can cite rules: comments, and in tests also strings (titles). */
const citableTexts = (path: string, text: string): ReadonlyArray<string> => {
  if (!/\.(ts|js|mjs)$/.test(path)) return [text]
  const { comments, program } = parseSync(path, text)
  const texts = comments.map(({ value }) => value)
  if (!path.startsWith('test/')) return texts
  new Visitor({
    Literal({ value }) {
      if (typeof value === 'string') texts.push(value)
    },
    TemplateElement({ value }) {
      texts.push(value.cooked ?? value.raw)
    },
  }).visit(program)
  return texts
}

export const citingOf = (path: string, text: string): Citing => ({
  path,
  codes: [...new Set(citableTexts(path, text).flatMap(codesIn))],
})

/** Files that people write. JSON, samples, models and recordings cite no rules. */
const WRITTEN = [
  '*.{md,yml}',
  'Dockerfile',
  '.ci/*',
  'test/rows.txt',
  '.github/**/*.yml',
  `{${LAYERS.join()},test,bench,tools,docs}/**/*.{ts,js,mjs,md,html,css,py,c,yml}`,
]

/** Returns every file of the repository that cites rules. */
export const citingFiles = (): ReadonlyArray<Citing> =>
  globSync(WRITTEN, { exclude: ['**/node_modules/**'] })
    .toSorted()
    .map((path) => citingOf(path, readFileSync(path, 'utf8')))
    .filter(({ codes }) => codes.length > 0)

/** One rule: a line of docs/requirements.md. */
export interface Rule {
  readonly code: string
  readonly sentence: string
  /** The family of the heading above the rule. */
  readonly family: string
}

/** Parses docs/requirements.md: `## R: …` begins a family, `- **R12** …` is a rule. */
export const rulesOf = (text: string): ReadonlyArray<Rule> =>
  text.split(/^## /m).flatMap((part) => {
    const family = /^([A-Z]): /.exec(part)?.[1] ?? ''
    const lines = part.matchAll(/^- \*\*(\w+)\*\* (.*)$/gm)
    return [...lines].map(([, code = '', sentence = '']) => ({ code, sentence, family }))
  })

/** Returns each citation of an unknown rule, as `path: code`. */
export const unknownCodes = (citing: ReadonlyArray<Citing>, rules: ReadonlyArray<Rule>): ReadonlyArray<string> => {
  const ruleCodes = new Set(rules.map(({ code }) => code))
  return citing.flatMap(({ path, codes }) =>
    codes.filter((code) => !ruleCodes.has(code)).map((code) => `${path}: ${code}`),
  )
}

const numberOf = ({ code }: Rule): number => Number(code.slice(1))

/** Returns a complaint like `R1 is out of order` for each rule that is repeated, misplaced or not one sentence. */
export const misplacedRules = (rules: ReadonlyArray<Rule>): ReadonlyArray<string> =>
  rules.flatMap((rule, i) => {
    const { code, sentence, family } = rule
    const before = rules[i - 1]
    const wrong = [
      rules.findIndex((other) => other.code === code) < i ? 'appears twice' : '',
      code.startsWith(family) && family !== '' ? '' : 'is in another family',
      before?.code.charAt(0) === code.charAt(0) && numberOf(before) > numberOf(rule) ? 'is out of order' : '',
      /^\S.{8,148}[^.]\.$/.test(sentence) ? '' : 'is not one sentence on one line',
    ]
    return wrong.filter((problem) => problem !== '').map((problem) => `${code} ${problem}`)
  })
