import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { Visitor, parseSync } from 'oxc-parser'
import { LAYERS, productSources } from './imports.ts'

const MOST_FILES = 15
const MOST_MEMBERS = 12
const MOST_PARAMETERS = 5

/** Something that holds more than a reader can: where it stands, its name where it has one, and how much it holds. */
export interface Oversize {
  readonly path: string
  readonly name: string
  readonly holds: string
}

interface Listing {
  readonly start: number
  readonly params: ReadonlyArray<unknown>
}

/** The interfaces and type literals of a file with too many members of their own; what takes too many parameters. */
export const oversizeIn = (path: string, text: string): ReadonlyArray<Oversize> => {
  const found: Array<Oversize> = []
  const lineOf = (start: number): string => `line ${text.slice(0, start).split('\n').length}`
  const members = (name: string, { length }: ReadonlyArray<unknown>): void => {
    if (length > MOST_MEMBERS) found.push({ path, name, holds: `${length} members` })
  }
  const parameters = ({ start, params }: Listing): void => {
    if (params.length > MOST_PARAMETERS) found.push({ path, name: lineOf(start), holds: `${params.length} parameters` })
  }
  new Visitor({
    TSInterfaceDeclaration: ({ id, body }) => members(id.name, body.body),
    TSTypeLiteral: (node) => members(lineOf(node.start), node.members),
    FunctionDeclaration: parameters,
    FunctionExpression: parameters,
    ArrowFunctionExpression: parameters,
    TSDeclareFunction: parameters,
    TSEmptyBodyFunctionExpression: parameters,
    TSFunctionType: parameters,
    TSConstructorType: parameters,
    TSMethodSignature: parameters,
    TSCallSignatureDeclaration: parameters,
    TSConstructSignatureDeclaration: parameters,
  }).visit(parseSync(path, text).program)
  return found
}

/** Where sizes inside files are bounded: what lies further out is shaped by protocols and libraries. */
const BOUNDED = /^(domain|application|projections)\//

export const oversizeInProduct = (): ReadonlyArray<Oversize> =>
  productSources('.').flatMap(({ path }) => (BOUNDED.test(path) ? oversizeIn(path, readFileSync(path, 'utf8')) : []))

/** Every file of the product, pages and samples included. */
export const productFiles = (): ReadonlyArray<string> =>
  globSync(`{${LAYERS.join()}}/**/*`, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(relative('.', parentPath), name))

/** The folders that hold too many of the files themselves; what lies in folders below counts there. */
export const crowdedFolders = (paths: ReadonlyArray<string>): ReadonlyArray<string> => {
  const counts = new Map<string, number>()
  for (const path of paths) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1)
  return [...counts].filter(([, count]) => count > MOST_FILES).map(([folder, count]) => `${folder}: ${count} files`)
}
