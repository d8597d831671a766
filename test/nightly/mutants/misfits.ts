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

const wordsOf = (text: string): ReadonlyArray<string> => text.match(/[\w.]+/g) ?? []

/** Returns the words outside placeholders of each title that has placeholders. */
const templateWordsIn = (source: string): ReadonlyArray<ReadonlyArray<string>> =>
  [...source.matchAll(/\(\s*`([^`\n]*\$\{[^`\n]*)`,/g)].map(([, title = '']) =>
    wordsOf(title.replaceAll(/\$\{[^}]*\}/g, ' ')),
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
  // The values of placeholders are unknown, so a third of the words must be literal ones.
  const words = wordsOf(row)
  return sources.flatMap(templateWordsIn).some((literal) =>
    words.filter((word) => literal.includes(word)).length * 3 >= words.length)
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
  return rows.some((row) => isNamedBy(sources, row)) ? null : `${test} has no test for: ${rows.join(', ')}`
}

/** Returns a complaint for each mutant whose line, names or test title do not exist. */
export const misfits = (mutants: ReadonlyArray<Mutant>): ReadonlyArray<string> =>
  mutants.flatMap((mutant) => misfitOf(mutant) ?? [])
