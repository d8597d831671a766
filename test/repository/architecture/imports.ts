import { readFileSync, globSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { parseSync } from 'oxc-parser'

/** A source file and what it imports: project files as paths from the root, packages and node:* by name. */
export interface Source {
  readonly path: string
  readonly imports: ReadonlyArray<string>
}

const importedBy = (path: string, text: string): ReadonlyArray<string> => {
  const { module } = parseSync(path, text)
  const statics = module.staticImports.map((entry) => entry.moduleRequest.value)
  const reexports = module.staticExports.flatMap((entry) =>
    entry.entries.flatMap((e) => (e.moduleRequest === null ? [] : [e.moduleRequest.value])),
  )
  const dynamics = module.dynamicImports.map((entry) =>
    text.slice(entry.moduleRequest.start + 1, entry.moduleRequest.end - 1),
  )
  return [...new Set([...statics, ...reexports, ...dynamics])]
}

/** Returns the imports of one file, including imported types. */
export const sourceOf = (path: string, text: string): Source => ({
  path,
  imports: importedBy(path, text).map((name) => (name.startsWith('.') ? join(dirname(path), name) : name)),
})

export const LAYERS = ['domain', 'application', 'infrastructure', 'projections', 'interfaces']

/** Returns every product file below `root`. */
export const productSources = (root: string): ReadonlyArray<Source> =>
  globSync(LAYERS.map((layer) => `${layer}/**/*.ts`), { cwd: root })
    .map((path) => relative('.', path))
    .toSorted()
    .map((path) => sourceOf(path, readFileSync(join(root, path), 'utf8')))

/** An arrow of docs/architecture.md: what some files may import. */
interface Arrow {
  readonly from: RegExp
  /** Imports that these files may have. Every other import is reported. */
  readonly may: ReadonlyArray<RegExp>
}

const PURE_PACKAGES = /^(fp-ts|io-ts)(\/|$)/
/** Packages that the service serves to browsers. */
const BROWSER_PACKAGES = /^(preact|preact\/hooks|@preact\/signals|uqr)$/
const PACKAGE = /^(?!(domain|application|infrastructure|projections|interfaces|test|bench|tools)\/)/

/** Adapters and read models may also import the ports, and a few helpers. */
const OFFERED = [/^application\/ports\//, /^application\/(concurrency|lru-cache|outages|turns|waiting)\.ts$/]

/** All allowed arrows (docs/architecture.md). The first matching row applies to a file. */
const ARROWS: ReadonlyArray<Arrow> = [
  // Browsers run it, too.
  { from: /^domain\/audio\//, may: [] },
  { from: /^domain\//, may: [/^domain\//, PURE_PACKAGES] },
  { from: /^application\/ports\//, may: [/^domain\//, /^application\/ports\//, PURE_PACKAGES] },
  { from: /^application\//, may: [/^domain\//, /^application\//, PURE_PACKAGES] },
  { from: /^infrastructure\//, may: [/^infrastructure\//, ...OFFERED, /^domain\//, PACKAGE] },
  {
    from: /^projections\//,
    may: [
      /^projections\//,
      /^domain\/(shared\/|read-event\.ts)/,
      /^domain\/[^/]+\/events\.ts$/,
      ...OFFERED,
      PURE_PACKAGES,
    ],
  },
  { from: /^interfaces\/(compose\.ts|main\.ts|compose\/|cli\/)/, may: [/./] },
  { from: /^interfaces\/console\//, may: [/^interfaces\/(console|client)\//, /^domain\/audio\//, BROWSER_PACKAGES] },
  { from: /^interfaces\/client\//, may: [/^interfaces\/client\//] },
  {
    from: /^interfaces\//,
    may: [
      /^interfaces\/(?!compose|main\.ts|cli\/|console\/)/,
      /^application\//,
      /^projections\/[^/]+\/queries\.ts$/,
      /^domain\//,
      PACKAGE,
    ],
  },
]

/** Returns each import that no arrow allows, as `from → to`. */
export const brokenArrows = (sources: ReadonlyArray<Source>): ReadonlyArray<string> =>
  sources.flatMap((source) => {
    const arrow = ARROWS.find(({ from }) => from.test(source.path))
    return source.imports
      .filter((name) => arrow === undefined || !arrow.may.some((allowed) => allowed.test(name)))
      .map((name) => `${source.path} → ${name}`)
  })

/**
 * Returns the parts (files and subfolders) of each folder that import each other, directly or through their contents.
 */
export const folderCycles = (sources: ReadonlyArray<Source>): ReadonlyArray<string> => {
  const folders = new Set(
    sources.flatMap(({ path }) =>
      path
        .split('/')
        .slice(0, -1)
        .map((_, depth, names) => names.slice(0, depth + 1).join('/')),
    ),
  )
  return [...folders].toSorted().flatMap((folder) => {
    const partOf = (path: string): string | undefined =>
      path.startsWith(`${folder}/`) ? path.slice(folder.length + 1).split('/')[0] : undefined
    const imported = new Map<string, Set<string>>()
    for (const { path, imports } of sources) {
      const [from, ...others] = [partOf(path), ...imports.map(partOf)]
      if (from === undefined) continue
      for (const to of others)
        if (to !== undefined && to !== from) imported.set(from, (imported.get(from) ?? new Set()).add(to))
    }
    const reached = (part: string, seen = new Set<string>()): ReadonlySet<string> => {
      for (const next of imported.get(part) ?? []) if (!seen.has(next)) reached(next, seen.add(next))
      return seen
    }
    const cycle = [...imported.keys()].filter((part) => reached(part).has(part))
    return cycle.length === 0 ? [] : [`${folder}: ${cycle.toSorted().join(', ')}`]
  })
}

/** Returns each import cycle as the list of its files. */
export const cycles = (sources: ReadonlyArray<Source>): ReadonlyArray<ReadonlyArray<string>> => {
  const byPath = new Map(sources.map((source) => [source.path, source]))
  const done = new Set<string>()
  const found: Array<ReadonlyArray<string>> = []
  const visit = (path: string, trail: ReadonlyArray<string>): void => {
    const at = trail.indexOf(path)
    if (at >= 0) {
      found.push(trail.slice(at))
      return
    }
    if (done.has(path)) return
    for (const next of byPath.get(path)?.imports ?? []) if (byPath.has(next)) visit(next, [...trail, path])
    done.add(path)
  }
  for (const source of sources) visit(source.path, [])
  return found
}
