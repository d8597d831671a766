import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Folders whose tests share nothing but the code that they test, and never wait for an answer while others compute. */
const IN_ONE_PROCESS = ['application', 'architecture', 'bench', 'docs', 'domain', 'engine', 'http', 'infrastructure', 'pipeline', 'projections', 'relay', 'ws']
/** Here only files that share a service. */
const WITH_SERVICES = 'service'
/** So that there are some for each core. */
const FILES = 16
/** Their tests all run at once, and a service has one thread. */
const FILES_OF_A_SERVICE = 7
const FOLDER = join('test', 'bundled')

/** Answers from elsewhere, or models that compute for long: who waits for them has a process of their own. */
const WAITS = /support\/(?:eventstoredb|hub|internal-port|mongodb|pulls-from-hub|webgpu)|\b(?:create(?:\w*Engine|WorkerPool|TaskRunner|Lanes)|load(?:Whisper|Marian))\b/

/** ava takes hooks for those of every test of a process, and no test behind an await; skips are known by their file. */
const mayShare = (folder: string, file: string): boolean => {
  const text = readFileSync(file, 'utf8')
  if (WAITS.test(text)) return false
  if (/\btest\.(?:before|after|beforeEach|afterEach)\b|skip-unless|\btest(?:\.serial)?\.skip\b|^(?:const .*= )?await /im.test(text)) return false
  return folder !== WITH_SERVICES || text.includes('sharedTestService()')
}

/**
 * The files to be run for `files`: many small ones as a few that import them, since half of the time of a small file is
 * the start of its process. Those few lie in a folder that git ignores.
 */
export const bundled = (files: ReadonlyArray<string>): ReadonlyArray<string> => {
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER)
  const bundles = [WITH_SERVICES, ...IN_ONE_PROCESS].flatMap((folder) => {
    const small = files.filter((file) => dirname(file) === join('test', folder) && mayShare(folder, file))
    const count = Math.ceil(small.length / (folder === WITH_SERVICES ? FILES_OF_A_SERVICE : FILES))
    return Array.from({ length: count }, (_, n) => ({
      path: join(FOLDER, `${folder}-${n + 1}.test.ts`),
      of: small.filter((_file, index) => index % count === n),
    }))
  })
  for (const { path, of } of bundles)
    writeFileSync(path, of.map((file) => `import '../../${file}'\n`).join(''))
  const inside = new Set(bundles.flatMap(({ of }) => of))
  return [...bundles.map(({ path }) => path), ...files.filter((file) => !inside.has(file))]
}
