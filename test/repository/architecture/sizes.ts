import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { Visitor, parseSync } from 'oxc-parser'
import { LAYERS } from './imports.ts'

/** Above these sizes a part is worth a look. Nothing fails: a file is not split only to become shorter. */
const USUAL = { lines: 250, members: 12, parameters: 5, files: 15 }

/** A part of the product and its size. */
interface Sized {
  readonly name: string
  readonly size: number
}

/** The parts above each usual size, the largest first. */
export type Oversizes = Readonly<Record<keyof typeof USUAL, ReadonlyArray<Sized>>>

interface Listing {
  readonly start: number
  readonly params: ReadonlyArray<unknown>
}

/** Returns the types with many members, and the functions with many parameters. */
const listingsIn = (path: string, text: string): Pick<Oversizes, 'members' | 'parameters'> => {
  const members: Array<Sized> = []
  const parameters: Array<Sized> = []
  const lineOf = (start: number): string => `${path}:${text.slice(0, start).split('\n').length}`
  const addMembers = (start: number, { length }: ReadonlyArray<unknown>): void => {
    if (length > USUAL.members) members.push({ name: lineOf(start), size: length })
  }
  const addParameters = ({ start, params }: Listing): void => {
    if (params.length > USUAL.parameters) parameters.push({ name: lineOf(start), size: params.length })
  }
  new Visitor({
    TSInterfaceDeclaration: ({ start, body }) => addMembers(start, body.body),
    TSTypeLiteral: ({ start, members: listed }) => addMembers(start, listed),
    FunctionDeclaration: addParameters,
    FunctionExpression: addParameters,
    ArrowFunctionExpression: addParameters,
    TSFunctionType: addParameters,
    TSMethodSignature: addParameters,
  }).visit(parseSync(path, text).program)
  return { members, parameters }
}

/** Returns the folders with many files. Files in subfolders count for the subfolder only. */
const crowdedFolders = (paths: ReadonlyArray<string>): ReadonlyArray<Sized> => {
  const counts = new Map<string, number>()
  for (const path of paths) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1)
  return [...counts].flatMap(([name, size]) => (size > USUAL.files ? [{ name, size }] : []))
}

/** The layers whose types and functions count. Protocols and libraries shape the outer layers. */
const INNER = /^(domain|application|projections)\//
/** `tools/client` writes this file. */
const GENERATED = 'interfaces/client/operations.ts'

const bySize = (sizes: ReadonlyArray<Sized>): ReadonlyArray<Sized> => sizes.toSorted((a, b) => b.size - a.size)

/** Returns what is above the usual sizes among files (path and text). */
export const oversizesIn = (files: ReadonlyArray<readonly [path: string, text: string]>): Oversizes => {
  const written = files.filter(([path]) => path.endsWith('.ts') && path !== GENERATED)
  const lines = written.map(([name, text]) => ({ name, size: text.split('\n').length - 1 }))
  const listings = written.filter(([path]) => INNER.test(path)).map(([path, text]) => listingsIn(path, text))
  return {
    lines: bySize(lines.filter(({ size }) => size > USUAL.lines)),
    members: bySize(listings.flatMap(({ members }) => members)),
    parameters: bySize(listings.flatMap(({ parameters }) => parameters)),
    files: bySize(crowdedFolders(files.map(([path]) => path))),
  }
}

/** Returns the path and text of every file of the product, including pages and samples. */
export const productFiles = (): ReadonlyArray<readonly [path: string, text: string]> =>
  globSync(`{${LAYERS.join()}}/**/*`, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(relative('.', parentPath), name))
    .map((path) => [path, path.endsWith('.ts') ? readFileSync(path, 'utf8') : ''])

const MAX_NAMED = 5

/** Returns a line for each usual size that parts of the product exceed, with the largest of these parts. */
export const sizeReport = (oversizes: Oversizes): ReadonlyArray<string> =>
  Object.entries(oversizes).flatMap(([what, sizes]) => {
    if (sizes.length === 0) return []
    const usual = Object.entries(USUAL).find(([name]) => name === what)?.[1]
    const named = sizes.slice(0, MAX_NAMED).map(({ name, size }) => `${name} ${size}`)
    const others = sizes.length > MAX_NAMED ? ', …' : ''
    return [`sizes: ${sizes.length} above ${usual} ${what}: ${named.join(', ')}${others}`]
  })
