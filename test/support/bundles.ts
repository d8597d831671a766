import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Folders whose tests start no process and share nothing but the code that they test. */
const IN_ONE_PROCESS = ['application', 'domain', 'http', 'projections', 'ws'].map((name) => join('test', name))
/** So that there are some for each core. */
const FILES = 16
const FOLDER = join('test', 'bundled')

/** ava takes hooks for those of every test of a process, and no test behind an await; skips are known by their file. */
const isAlone = (file: string): boolean =>
  /\btest\.(?:before|after|beforeEach|afterEach)\b|skip|^(?:const .*= )?await /im.test(readFileSync(file, 'utf8'))

/**
 * The files to be run for `files`: many small ones as a few that import them, since half of the time of a small file is
 * the start of its process. Those few lie in a folder that git ignores.
 */
export const bundled = (files: ReadonlyArray<string>): ReadonlyArray<string> => {
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER)
  const bundles = IN_ONE_PROCESS.flatMap((folder) => {
    const small = files.filter((file) => dirname(file) === folder && !isAlone(file))
    return Array.from({ length: Math.ceil(small.length / FILES) }, (_, n) => ({
      path: join(FOLDER, `${basename(folder)}-${n + 1}.test.ts`),
      of: small.slice(n * FILES, (n + 1) * FILES),
    }))
  })
  for (const { path, of } of bundles)
    writeFileSync(path, of.map((file) => `import '../../${file}'\n`).join(''))
  const inside = new Set(bundles.flatMap(({ of }) => of))
  return [...bundles.map(({ path }) => path), ...files.filter((file) => !inside.has(file))]
}
