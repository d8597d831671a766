import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { rowsOf } from '../../support/running/rows.ts'
import type { RowName } from '../../support/running/rows.ts'
import type { Mutant } from './mutant.ts'

/** Returns all string literals of a file. */
const titlesIn = (source: string): ReadonlyArray<string> =>
  [...source.matchAll(/(['"`])((?:\\.|(?!\1)[^\\\n])*)\1/g)].map(([, , text = '']) =>
    text.replaceAll(/\\(['"`])/g, '$1'),
  )

/** Returns the literal parts of each text with placeholders. */
const templatesIn = (source: string): ReadonlyArray<ReadonlyArray<string>> =>
  [...source.matchAll(/`([^`\n]*\$\{[^`\n]*)`/g)].map(([, text = '']) => text.split(/\$\{(?:[^{}]|\{[^}]*\})*\}/))

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)

/** Patterns of any end of a text, and of any start. */
const endOf = (text: string): string =>
  [...text].reduce((pattern, character) => `(?:${pattern}${escaped(character)})?`, '')
const startOf = (text: string): string =>
  [...text].reduceRight((pattern, character) => `(?:${escaped(character)}${pattern})?`, '')

/**
 * Returns whether a text with placeholders can contain the row. A placeholder stands for any text, so a third of the
 * row must be literal.
 */
const canContain = (parts: ReadonlyArray<string>, row: string): boolean =>
  parts.some((first, begin) =>
    parts.slice(begin + 1).some((last, between) => {
      const inner = parts.slice(begin + 1, begin + 1 + between)
      const middle = inner.map((part) => `.*?${escaped(part)}`).join('')
      const found = new RegExp(`^(${endOf(first)})${middle}.*?(${startOf(last)})$`).exec(row)
      const literal = [...(found?.slice(1) ?? []), ...inner].join('')
      return found !== null && 3 * literal.length >= row.length
    }),
  )

/** Returns a test file and its imports from `test/`, because a contract or a property may define its tests. */
const withImports = (file: string, seen: Set<string> = new Set()): ReadonlySet<string> => {
  if (seen.has(file) || !file.startsWith('test/') || !existsSync(file)) return seen
  seen.add(file)
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(/from '(\.[^']+)'/g))
    withImports(join(dirname(file), path), seen)
  return seen
}

const isNamedBy = (sources: ReadonlyArray<string>, row: RowName): boolean => {
  const titles = sources.flatMap(titlesIn)
  if (typeof row === 'number') return titles.some((title) => rowsOf(title).includes(row))
  if (sources.some((source) => source.includes(row))) return true
  return sources.flatMap(templatesIn).some((parts) => canContain(parts, row))
}

const KEYWORDS = /^(?:async|await|const|else|false|for|if|let|new|null|of|return|throw|true|void)$/
const LITERALS = /(['"`]).*?\1|\/(?:\\.|[^/\\\s])(?:\\.|[^/\\\n])*\//g
const NAMES = /(?<![\w$.])(?!\d)[\w$]+(?![\w$]|\s*:)/g
const PARAMETERS = /\(([^()]*)\)\s*=>/g

const namesIn = (code: string): ReadonlyArray<string> => code.match(NAMES) ?? []

/** Returns the names in a mutant's code that its file does not know. A ReferenceError would fail any test. */
const unknownNames = (code: string, source: string): ReadonlyArray<string> => {
  const bare = code.replaceAll(LITERALS, '')
  const parameters = [...bare.matchAll(PARAMETERS)].flatMap(([, list = '']) => namesIn(list))
  const known = new Set([...(source.match(/[\w$]+/g) ?? []), ...parameters])
  return namesIn(bare).filter((name) => !known.has(name) && !KEYWORDS.test(name) && !(name in globalThis))
}

const misfitOf = ({ file, before, after, rows, test }: Mutant): string | null => {
  if (!existsSync(file)) return `there is no file ${file}`
  const source = readFileSync(file, 'utf8')
  if (source.split(before).length !== 2) return `${file} does not contain exactly once: ${before}`
  const unknown = unknownNames(after, source)
  if (unknown.length > 0) return `${file} does not know ${unknown.join(', ')}, used in: ${after}`
  if (!existsSync(test)) return `there is no test file ${test}`
  const sources = [...withImports(test)].map((path) => readFileSync(path, 'utf8'))
  const unnamed = rows.filter((row) => !isNamedBy(sources, row))
  return unnamed.length === 0 ? null : `${test} has no test for: ${unnamed.join(', ')}`
}

/** Returns a complaint for each mutant whose line, names or test title do not exist. */
export const misfits = (mutants: ReadonlyArray<Mutant>): ReadonlyArray<string> =>
  mutants.flatMap((mutant) => misfitOf(mutant) ?? [])
