import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Folders whose test files may share a process, because they start no service and compute little. */
const IN_ONE_PROCESS = ['unit', 'repository', 'api', 'contract']
/** In this folder, test files that get one service from one of these functions may share a process. */
const WITH_SERVICES = 'test/e2e/service/'
const SHARED = ['sharedTestService', 'restartedTestService']
/** Files of one process. Few enough to keep every core busy. */
const FILES = 16
/** Fewer than FILES, because all tests of a bundle call one service at once, and a service has one thread. */
const FILES_OF_A_SERVICE = 8
const FOLDER = join('test', 'bundled')

/** A test file that matches waits for another process or for a long computation, so it gets its own process. */
const WAITS = [
  /support\/(?:\w+\/)*(?:eventstoredb|hub|internal-port|mongodb|pulls-from-hub|webgpu)/,
  /\b(?:create(?:\w*Engine|ThreadPool|TaskRunner|Lanes)|load(?:Whisper|Marian))\b/,
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

interface Group {
  readonly name: string
  readonly most: number
  readonly holds: (file: string, text: string) => boolean
}

const GROUPS: ReadonlyArray<Group> = [
  ...SHARED.map((name): Group => ({
    name,
    most: FILES_OF_A_SERVICE,
    holds: (file, text) => file.startsWith(WITH_SERVICES) && text.includes(`${name}()`),
  })),
  ...IN_ONE_PROCESS.flatMap((kind) => globSync(`test/${kind}/*/`)).map((folder): Group => ({
    name: folder.split('/').slice(1).join('-'),
    most: FILES,
    holds: (file) => file.startsWith(`${folder}/`),
  })),
]

/**
 * Returns the files to run instead of `files`. Many small files are replaced by a few bundles that import them, because
 * the start of a process takes half of the time of a small file. The bundles are written to a folder that git ignores.
 */
export const bundled = (files: ReadonlyArray<string>): ReadonlyArray<string> => {
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER)
  const texts = files
    .map((file) => ({ file, text: readFileSync(file, 'utf8') }))
    .filter(({ text }) => ![...WAITS, ...NEEDS_OWN_PROCESS].some((pattern) => pattern.test(text)))
  const bundles = GROUPS.flatMap(({ name, most, holds }) => {
    const small = texts.filter(({ file, text }) => holds(file, text)).map(({ file }) => file)
    const count = Math.ceil(small.length / most)
    return Array.from({ length: count }, (_, n) => ({
      path: join(FOLDER, `${name}-${n + 1}.test.ts`),
      bundledFiles: small.filter((_file, index) => index % count === n),
    }))
  })
  for (const { path, bundledFiles } of bundles)
    writeFileSync(path, bundledFiles.map((file) => `import '../../${file}'\n`).join(''))
  const inBundles = new Set(bundles.flatMap(({ bundledFiles }) => bundledFiles))
  return [...bundles.map(({ path }) => path), ...files.filter((file) => !inBundles.has(file))]
}
