import { createHash } from 'node:crypto'
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

const INTERFACES = join(import.meta.dirname, '..', '..')
/** The folder of the domain that browsers run, too. */
const SHARED = 'domain/audio'

/** The packages that the console may import, each with the file that a browser loads. */
const PACKAGES: Readonly<Record<string, string>> = {
  preact: import.meta.resolve('preact'),
  'preact/hooks': import.meta.resolve('preact/hooks'),
  '@preact/signals': import.meta.resolve('@preact/signals'),
  '@preact/signals-core': import.meta.resolve('@preact/signals-core'),
  uqr: import.meta.resolve('uqr'),
}

const vendorPath = (name: string): string => `vendor/${name.replaceAll(/\W+/g, '-').replace(/^-/, '')}.js`

/** A file of the console as sent to browsers. */
export interface ConsoleFile {
  readonly mediaType: string
  readonly content: string | Buffer
}

export interface Console {
  /** Hash of all files. It is part of each file's address, so browsers may cache files permanently. */
  readonly build: string
  readonly files: ReadonlyMap<string, ConsoleFile>
  /** `main.ts` and the modules that it imports. The page lists them, so a browser loads all of them at once. */
  readonly modules: ReadonlyArray<string>
}

const SCRIPT = 'text/javascript; charset=utf-8'

/** Imports of packages, in our own files and in minified files. */
const BARE_IMPORT = /\b(from|import)(\s*)(["'])([@a-z][\w@/-]*)\3/g
const STATIC_IMPORT = /\b(?:from|import)\s*["'](\.[^"']+)["']/g

/** An import of a file of the domain. The console's files are served without the folder `interfaces`. */
const DOMAIN_IMPORT = /(["'])(?:\.\.\/)+domain\//g

/** Replaces package names in imports with file addresses, because browsers cannot resolve packages. */
const withAddresses = (path: string, text: string): string => {
  const local = text.replaceAll(DOMAIN_IMPORT, `$1${posix.relative(posix.dirname(path), 'domain')}/`)
  return local.replaceAll(BARE_IMPORT, (whole, word: string, space: string, quote: string, name: string) => {
    if (PACKAGES[name] === undefined) return whole
    const address = posix.relative(posix.dirname(path), vendorPath(name))
    return `${word}${space}${quote}${address.startsWith('.') ? address : `./${address}`}${quote}`
  })
}

type FileEntry = readonly [path: string, file: ConsoleFile]

const ownFile = async (path: string): Promise<FileEntry> => {
  const text = await readFile(join(INTERFACES, path.startsWith(SHARED) ? '..' : '.', path), 'utf8')
  if (path.endsWith('.css')) return [path, { mediaType: 'text/css; charset=utf-8', content: text }]
  return [path, { mediaType: SCRIPT, content: withAddresses(path, stripTypeScriptTypes(text)) }]
}

const vendorFile = async ([name, url]: readonly [name: string, url: string]): Promise<FileEntry> => {
  const text = (await readFile(fileURLToPath(url), 'utf8')).replace(/^\/\/# sourceMappingURL=.*$/m, '')
  return [vendorPath(name), { mediaType: SCRIPT, content: withAddresses(vendorPath(name), text) }]
}

/** Speech that the console sends when a user tries the service without a microphone. */
const SAMPLE = 'cli/streaming/demo/sample.flac'

const modulesOf = (files: ReadonlyMap<string, ConsoleFile>, path: string,
  found = new Set<string>()): ReadonlySet<string> => {
  if (found.has(path)) return found
  found.add(path)
  const text = String(files.get(path)?.content ?? '')
  for (const [, to = ''] of text.matchAll(STATIC_IMPORT)) modulesOf(files, posix.join(posix.dirname(path), to), found)
  return found
}

const prepare = async (): Promise<Console> => {
  const files = new Map<string, ConsoleFile>()
  const own = [
    ...globSync('{console,client}/**/*.{ts,css}', { cwd: INTERFACES }),
    ...globSync(`${SHARED}/*.ts`, { cwd: join(INTERFACES, '..') }),
  ].map((path) => path.replaceAll('\\', '/'))
  // One file at a time, because stripping types blocks the event loop while sessions run.
  for (const path of own.toSorted()) files.set(...(await ownFile(path)))
  for (const entry of Object.entries(PACKAGES)) files.set(...(await vendorFile(entry)))
  files.set('sample.flac', { mediaType: 'audio/flac', content: await readFile(join(INTERFACES, SAMPLE)) })
  const hash = createHash('sha256')
  for (const [path, { content }] of files) hash.update(`${path}\n`).update(content)
  return { build: hash.digest('base64url').slice(0, 16), files, modules: [...modulesOf(files, MAIN)] }
}

const MAIN = 'console/main.ts'

let prepared: Promise<Console> | undefined

/** Returns the files of the console. They are prepared on the first request and then kept. */
export const consoleFiles = (): Promise<Console> => (prepared ??= prepare())
