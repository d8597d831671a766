import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { rowsOf } from '../../support/running/rows.ts'
import type { RowName } from '../../support/running/rows.ts'
import type { Mutant } from './mutant.ts'

/** All string literals of a file; placeholders of templates stay in the text. */
const titlesIn = (source: string): ReadonlyArray<string> =>
  [...source.matchAll(/(['"`])((?:\\.|(?!\1)[^\\\n])*)\1/g)].map(([, , text = '']) =>
    text.replaceAll(/\\(['"`])/g, '$1'),
  )

/** A test file and its imports from `test/`, because contracts and properties register tests of other files. */
const withImports = (file: string, seen: Set<string> = new Set()): ReadonlySet<string> => {
  if (seen.has(file) || !file.startsWith('test/') || !existsSync(file)) return seen
  seen.add(file)
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(/from '(\.[^']+)'/g))
    withImports(join(dirname(file), path), seen)
  return seen
}

const isNamedBy = (titles: ReadonlyArray<string>, row: RowName): boolean => {
  if (typeof row === 'number') return titles.some((title) => rowsOf(title).includes(row))
  if (titles.some((title) => title.includes(row))) return true
  // A placeholder may have any value.
  return titles.some((title) => title.includes('${'))
}

const misfitOf = ({ file, before, rows, test }: Mutant): string | null => {
  if (!existsSync(file)) return `there is no file ${file}`
  if (readFileSync(file, 'utf8').split(before).length !== 2) return `${file} does not contain exactly once: ${before}`
  if (!existsSync(test)) return `there is no test file ${test}`
  const titles = [...withImports(test)].flatMap((path) => titlesIn(readFileSync(path, 'utf8')))
  return rows.some((row) => isNamedBy(titles, row)) ? null : `${test} has no test for: ${rows.join(', ')}`
}

/** Names each mutant whose line or test title does not exist. Empty when all mutants fit. */
export const misfits = (mutants: ReadonlyArray<Mutant>): ReadonlyArray<string> =>
  mutants.flatMap((mutant) => misfitOf(mutant) ?? [])
