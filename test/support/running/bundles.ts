import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Folders whose test files may share a process, because they start no service and compute little. */
const IN_ONE_PROCESS = ['unit', 'repository', 'api', 'contract']
/** In this folder only test files that share a service may share a process. */
const WITH_SERVICES = join('test', 'e2e', 'service')
/** Files of one process. Few enough to keep every core busy. */
const FILES = 16
/** Fewer than FILES, because all tests of a bundle call one service at once, and a service has one thread. */
const FILES_OF_A_SERVICE = 7
const FOLDER = join('test', 'bundled')

/** A test file that matches waits for another process or for a long computation, so it gets its own process. */
const WAITS = [
  /support\/(?:\w+\/)*(?:eventstoredb|hub|internal-port|mongodb|pulls-from-hub|webgpu)/,
  /\b(?:create(?:\w*Engine|WorkerPool|TaskRunner|Lanes)|load(?:Whisper|Marian))\b/,
]
/**
 * A test file that matches cannot share a process: its hooks would run for all tests of the process, its skips are
 * listed by file, and ava misses tests that follow a top-level await.
 */
const NEEDS_OWN_PROCESS = [
  /\btest\.(?:before|after|beforeEach|afterEach)\b/,
  /skip-unless|\btest(?:\.serial)?\.skip\b/,
  /^(?:const .*= )?await /im,
]

const mayShare = (folder: string, file: string): boolean => {
  const text = readFileSync(file, 'utf8')
  if ([...WAITS, ...NEEDS_OWN_PROCESS].some((pattern) => pattern.test(text))) return false
  return folder !== WITH_SERVICES || text.includes('sharedTestService()')
}

/**
 * Returns the files to run instead of `files`. Many small files are replaced by a few bundles that import them, because
 * the start of a process takes half of the time of a small file. The bundles are written to a folder that git ignores.
 */
export const bundled = (files: ReadonlyArray<string>): ReadonlyArray<string> => {
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER)
  const folders = [WITH_SERVICES, ...IN_ONE_PROCESS.flatMap((kind) => globSync(`test/${kind}/*/`))]
  const bundles = folders.flatMap((folder) => {
    const small = files.filter((file) => file.startsWith(`${folder}/`) && mayShare(folder, file))
    const count = Math.ceil(small.length / (folder === WITH_SERVICES ? FILES_OF_A_SERVICE : FILES))
    return Array.from({ length: count }, (_, n) => ({
      path: join(FOLDER, `${folder.split('/').slice(1).join('-')}-${n + 1}.test.ts`),
      bundledFiles: small.filter((_file, index) => index % count === n),
    }))
  })
  for (const { path, bundledFiles } of bundles)
    writeFileSync(path, bundledFiles.map((file) => `import '../../${file}'\n`).join(''))
  const inBundles = new Set(bundles.flatMap(({ bundledFiles }) => bundledFiles))
  return [...bundles.map(({ path }) => path), ...files.filter((file) => !inBundles.has(file))]
}
