import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Folders whose tests may share a process: their tests start no service and do not wait while others compute. */
const IN_ONE_PROCESS = ['unit', 'repository', 'api', 'contract']
/** In this folder only files that share a service may share a process. */
const WITH_SERVICES = join('test', 'e2e', 'service')
/** Files in one process, few enough to keep every core busy. */
const FILES = 16
/** All tests of a bundle call one service at once, and a service has one thread. */
const FILES_OF_A_SERVICE = 7
const FOLDER = join('test', 'bundled')

/** A test that waits for another process or for a long computation gets a process of its own. */
const WAITS = /support\/(?:\w+\/)*(?:eventstoredb|hub|internal-port|mongodb|pulls-from-hub|webgpu)|\b(?:create(?:\w*Engine|WorkerPool|TaskRunner|Lanes)|load(?:Whisper|Marian))\b/

/** ava takes hooks for those of every test of a process, and no test behind an await; skips are known by their file. */
const mayShare = (folder: string, file: string): boolean => {
  const text = readFileSync(file, 'utf8')
  if (WAITS.test(text)) return false
  if (/\btest\.(?:before|after|beforeEach|afterEach)\b|skip-unless|\btest(?:\.serial)?\.skip\b|^(?:const .*= )?await /im.test(text)) return false
  return folder !== WITH_SERVICES || text.includes('sharedTestService()')
}

/**
 * Returns the files to run for `files`: many small files are replaced by a few that import them, because starting a process
 * takes half of the time of a small file. These few are written to a folder that git ignores.
 */
export const bundled = (files: ReadonlyArray<string>): ReadonlyArray<string> => {
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER)
  const isIn = (folder: string, file: string): boolean =>
    folder === WITH_SERVICES ? dirname(file) === folder : file.startsWith(`${folder}/`)
  const bundles = [WITH_SERVICES, ...IN_ONE_PROCESS.flatMap((kind) => globSync(`test/${kind}/*/`))].flatMap((folder) => {
    const small = files.filter((file) => isIn(folder, file) && mayShare(folder, file))
    const count = Math.ceil(small.length / (folder === WITH_SERVICES ? FILES_OF_A_SERVICE : FILES))
    return Array.from({ length: count }, (_, n) => ({
      path: join(FOLDER, `${folder.split('/').slice(1).join('-')}-${n + 1}.test.ts`),
      of: small.filter((_file, index) => index % count === n),
    }))
  })
  for (const { path, of } of bundles)
    writeFileSync(path, of.map((file) => `import '../../${file}'\n`).join(''))
  const inside = new Set(bundles.flatMap(({ of }) => of))
  return [...bundles.map(({ path }) => path), ...files.filter((file) => !inside.has(file))]
}
