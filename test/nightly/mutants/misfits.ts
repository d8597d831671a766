import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { createLocator, readProduct, testFiles, type Sources } from './locate.ts'
import type { Mutant } from './mutant.ts'

/** Returns a test file and its imports from `test/`, because a contract or a property may define its tests. */
const withImports = (file: string, seen: Set<string> = new Set()): ReadonlySet<string> => {
  if (seen.has(file) || !file.startsWith('test/') || !existsSync(file)) return seen
  seen.add(file)
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(/from '(\.[^']+)'/g))
    withImports(join(dirname(file), path), seen)
  return seen
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

/** Returns a function that says why a mutant does not fit the product or the tests. Null if it fits. */
const createFitting = (product: Sources) => {
  const locate = createLocator(product)
  const known = new Map<string, ReadonlyArray<string>>()
  const sourcesOf = (file: string): ReadonlyArray<string> => {
    const sources = known.get(file) ?? [...withImports(file)].map((path) => readFileSync(path, 'utf8'))
    known.set(file, sources)
    return sources
  }
  return (mutant: Mutant): string | null => {
    const { after, titles, test } = mutant
    const place = locate(mutant)
    if (E.isLeft(place)) return place.left
    const unknown = unknownNames(after, product.get(place.right.path) ?? '')
    if (unknown.length > 0) return `${place.right.path} does not know ${unknown.join(', ')}, used in: ${after}`
    const [file, ...others] = testFiles(test)
    if (file === undefined) return `there is no test file ${test}`
    if (others.length > 0) return `several test files are called ${test}: ${[file, ...others].join(', ')}`
    const unknownTitles = titles.filter((title) => !sourcesOf(file).some((source) => source.includes(title)))
    return unknownTitles.length === 0 ? null : `${file} has no test: ${unknownTitles.join(', ')}`
  }
}

/** Returns a complaint for each mutant whose function, line, names or test title do not exist. */
export const misfits = (mutants: ReadonlyArray<Mutant>, product = readProduct()): ReadonlyArray<string> => {
  const misfitOf = createFitting(product)
  return mutants.flatMap((mutant) => misfitOf(mutant) ?? [])
}
