import { globSync, readFileSync } from 'node:fs'
import type { Either } from 'fp-ts/lib/Either.js'
import * as E from 'fp-ts/lib/Either.js'
import { Visitor, parseSync } from 'oxc-parser'
import { nearestName } from '../../../domain/shared/nearest-name.ts'
import type { Mutant } from './mutant.ts'

/** The texts of files by path. */
export type Sources = ReadonlyMap<string, string>

/** The text in a file that a mutant replaces. */
export interface Place {
  readonly path: string
  readonly start: number
}

/** A named function or constant and its source. */
interface Declaration extends Place {
  readonly name: string
  readonly text: string
}

const declarationsIn = (path: string, source: string): ReadonlyArray<Declaration> => {
  const found: Array<Declaration> = []
  const add = (name: string, { start, end }: { readonly start: number; readonly end: number }): void => {
    found.push({ path, start, name, text: source.slice(start, end) })
  }
  new Visitor({
    VariableDeclaration(node) {
      const [{ id } = { id: null }] = node.declarations
      if (id?.type === 'Identifier') add(id.name, node)
    },
    FunctionDeclaration(node) {
      if (node.id !== null) add(node.id.name, node)
    },
    Property(node) {
      if (node.key.type === 'Identifier' && /Function/.test(node.value.type)) add(node.key.name, node)
    },
  }).visit(parseSync(path, source).program)
  return found
}

const occursOnce = ({ text }: Declaration, part: string): boolean => text.split(part).length === 2

const PRODUCT = '{domain,application,infrastructure,projections,interfaces}/**/*.ts'

export const readProduct = (): Sources =>
  new Map(globSync(PRODUCT).toSorted().map((path) => [path, readFileSync(path, 'utf8')]))

/** Returns a function that finds the place of a mutant in the files, or says why it has none. */
export const createLocator = (sources: Sources) => {
  const parsed = new Map<string, ReadonlyArray<Declaration>>()
  const declarationsOf = (path: string, source: string): ReadonlyArray<Declaration> => {
    const known = parsed.get(path) ?? declarationsIn(path, source)
    parsed.set(path, known)
    return known
  }
  /** Returns the declarations in files that contain all parts. */
  const declarationsWith = (...parts: ReadonlyArray<string>): ReadonlyArray<Declaration> =>
    [...sources].flatMap(([path, source]) =>
      parts.every((part) => source.includes(part)) ? declarationsOf(path, source) : [],
    )

  /** A renamed function still contains the line; a function whose line changed as well has a similar name. */
  const proposal = ({ in: name, before }: Mutant): string => {
    const [holder] = declarationsWith(before)
      .filter((declaration) => occursOnce(declaration, before) && /=>|function/.test(declaration.text))
      .toSorted((a, b) => a.text.length - b.text.length)
    const nearest = holder?.name ?? nearestName(name, declarationsWith().map((declaration) => declaration.name))
    return nearest === undefined ? '' : ` Did you mean ${nearest}?`
  }

  return (mutant: Mutant): Either<string, Place> => {
    const { in: name, file = '', before } = mutant
    const isNamed = (each: Declaration): boolean => each.name === name && each.path.includes(file)
    const found = declarationsWith(name, before)
      .filter((declaration) => isNamed(declaration) && occursOnce(declaration, before))
      .map(({ path, start, text }): Place => ({ path, start: start + text.indexOf(before) }))
    const [place] = found
    if (place === undefined && declarationsWith(name).some(isNamed))
      return E.left(`${name} does not contain exactly once: ${before}`)
    if (place === undefined) return E.left(`no function is called ${name}.${proposal(mutant)}`)
    // A function may lie in another one of the same name.
    if (found.every(({ path, start }) => path === place.path && start === place.start)) return E.right(place)
    return E.left(`several functions ${name} contain: ${before} (${found.map(({ path }) => path).join(', ')})`)
  }
}

const TEST_FILES = globSync('test/**/*.test.ts')

/** Returns the test files whose path ends so. */
export const testFiles = (end: string): ReadonlyArray<string> =>
  TEST_FILES.filter((path) => path.endsWith(`/${end}`))
