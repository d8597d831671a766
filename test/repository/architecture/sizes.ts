import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { Visitor, parseSync } from 'oxc-parser'
import { LAYERS, productSources } from './imports.ts'

const MAX_FILES = 15
const MAX_MEMBERS = 12
const MAX_PARAMETERS = 5

/** A type or function above a limit: its file, its name or line, and its size. */
export interface Oversize {
  readonly path: string
  readonly name: string
  readonly size: string
}

interface Listing {
  readonly start: number
  readonly params: ReadonlyArray<unknown>
}

/** Returns the types with too many members and the functions with too many parameters of a file. */
export const oversizeIn = (path: string, text: string): ReadonlyArray<Oversize> => {
  const found: Array<Oversize> = []
  const lineOf = (start: number): string => `line ${text.slice(0, start).split('\n').length}`
  const members = (name: string, { length }: ReadonlyArray<unknown>): void => {
    if (length > MAX_MEMBERS) found.push({ path, name, size: `${length} members` })
  }
  const parameters = ({ start, params }: Listing): void => {
    if (params.length > MAX_PARAMETERS) found.push({ path, name: lineOf(start), size: `${params.length} parameters` })
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

/** The layers with these limits. Protocols and libraries shape the outer layers. */
const BOUNDED = /^(domain|application|projections)\//

export const oversizeInProduct = (): ReadonlyArray<Oversize> =>
  productSources('.').flatMap(({ path }) => (BOUNDED.test(path) ? oversizeIn(path, readFileSync(path, 'utf8')) : []))

/** Returns every file of the product, including pages and samples. */
export const productFiles = (): ReadonlyArray<string> =>
  globSync(`{${LAYERS.join()}}/**/*`, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(relative('.', parentPath), name))

/** Returns the folders with too many files. Files in subfolders count for the subfolder only. */
export const crowdedFolders = (paths: ReadonlyArray<string>): ReadonlyArray<string> => {
  const counts = new Map<string, number>()
  for (const path of paths) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1)
  return [...counts].filter(([, count]) => count > MAX_FILES).map(([folder, count]) => `${folder}: ${count} files`)
}
