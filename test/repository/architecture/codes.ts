import { globSync, readFileSync } from 'node:fs'
import { Visitor, parseSync } from 'oxc-parser'
import { codesIn } from '../../support/running/rows.ts'
import { LAYERS } from './imports.ts'

/** A file and the codes of rules that it cites. */
export interface Citing {
  readonly path: string
  readonly codes: ReadonlyArray<string>
}

/** What a file tells readers: of a program its comments, of tests also what is in quotes (titles, rows of mutants). */
const toldBy = (path: string, text: string): ReadonlyArray<string> => {
  if (!/\.(ts|js|mjs)$/.test(path)) return [text]
  const { comments, program } = parseSync(path, text)
  const told = comments.map(({ value }) => value)
  if (!path.startsWith('test/')) return told
  new Visitor({
    Literal({ value }) {
      if (typeof value === 'string') told.push(value)
    },
    TemplateElement({ value }) {
      told.push(value.cooked ?? value.raw)
    },
  }).visit(program)
  return told
}

export const citingOf = (path: string, text: string): Citing => ({
  path,
  codes: [...new Set(toldBy(path, text).flatMap(codesIn))],
})

/** All that people write. What only programs read (JSON, samples, models, recordings) cites nothing. */
const WRITTEN = [
  '*.{md,yml}',
  'Dockerfile',
  '.ci/*',
  '.github/**/*.yml',
  `{${LAYERS.join()},test,bench,tools,docs}/**/*.{ts,js,mjs,md,html,css,py,c,yml}`,
]

/** Every file of the repository that cites rules, seen from its root. */
export const citingFiles = (): ReadonlyArray<Citing> =>
  globSync(WRITTEN, { exclude: ['**/node_modules/**'] })
    .toSorted()
    .map((path) => citingOf(path, readFileSync(path, 'utf8')))
    .filter(({ codes }) => codes.length > 0)

/** A line of docs/requirements.md: which rule it is, and what it says. */
export interface Rule {
  readonly code: string
  readonly sentence: string
  /** The family under whose heading it stands. */
  readonly family: string
}

/** The rules of a text laid out as docs/requirements.md is: `## R: …` begins a family, `- **R12** …` is a rule. */
export const rulesOf = (text: string): ReadonlyArray<Rule> =>
  text.split(/^## /m).flatMap((part) => {
    const family = /^([A-Z]): /.exec(part)?.[1] ?? ''
    const lines = part.matchAll(/^- \*\*(\w+)\*\* (.*)$/gm)
    return [...lines].map(([, code = '', sentence = '']) => ({ code, sentence, family }))
  })

/** Every citation of a rule that does not stand, as `path: code`. */
export const unknownCodes = (citing: ReadonlyArray<Citing>, rules: ReadonlyArray<Rule>): ReadonlyArray<string> => {
  const known = new Set(rules.map(({ code }) => code))
  return citing.flatMap(({ path, codes }) => codes.filter((code) => !known.has(code)).map((code) => `${path}: ${code}`))
}

const numberOf = ({ code }: Rule): number => Number(code.slice(1))

/** Every rule that stands twice, in another family, out of order, or is no sentence of one line. */
export const misplacedRules = (rules: ReadonlyArray<Rule>): ReadonlyArray<string> =>
  rules.flatMap((rule, i) => {
    const { code, sentence, family } = rule
    const before = rules[i - 1]
    const wrong = [
      rules.findIndex((other) => other.code === code) < i ? 'stands twice' : '',
      code.startsWith(family) && family !== '' ? '' : 'stands in another family',
      before?.code.charAt(0) === code.charAt(0) && numberOf(before) > numberOf(rule) ? 'stands out of order' : '',
      /^\S.{8,148}[^.]\.$/.test(sentence) ? '' : 'is no sentence of one line',
    ]
    return wrong.filter((what) => what !== '').map((what) => `${code} ${what}`)
  })
