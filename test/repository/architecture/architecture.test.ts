import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test from 'ava'
import { brokenArrows, cycles, folderCycles, LAYERS, productSources, sourceOf } from './imports.ts'

const sources = productSources('.')

test('only the allowed imports exist', (t) => {
  t.true(sources.length > 50, 'the product was found')
  t.deepEqual(brokenArrows(sources), [])
})

test('there are no import cycles', (t) => {
  t.deepEqual(cycles(sources), [])
})

test('two parts of a folder never import each other', (t) => {
  t.deepEqual(folderCycles(sources), [])
  const first = sourceOf('domain/a/one.ts', "import '../b/two.ts'")
  const second = sourceOf('domain/b/three.ts', "import '../a/four.ts'")
  t.deepEqual(folderCycles([first, second]), ['domain: a, b'])
})

test('every import of a project file names an existing file', (t) => {
  const missing = sources.flatMap((source) =>
    source.imports.filter(
      (name) => /^(domain|application|infrastructure|projections|interfaces)\//.test(name) && !existsSync(name),
    ),
  )
  t.deepEqual(missing, [])
})

/** A module that is started as a process or a thread: no import checks its path. */
const STARTED = /(?:import\.meta\.dirname, |new URL\()'([^']+\.ts)'/g

const missingModules = (path: string, text: string): ReadonlyArray<string> =>
  [...text.matchAll(STARTED)].map(([, name = '']) => join(dirname(path), name)).filter((name) => !existsSync(name))

test('every module that is started as a process or a thread exists', (t) => {
  const files = globSync([...LAYERS, 'bench', 'test', 'tools'].map((folder) => `${folder}/**/*.ts`))
  t.deepEqual(files.flatMap((path) => missingModules(path, readFileSync(path, 'utf8'))), [])
  t.deepEqual(missingModules('bench/a.ts', ['new URL(', "'./none.ts', import.meta.url)"].join('')), ['bench/none.ts'])
})

/** The files that start a pipeline or a source. */
const STARTS =
  /^application\/running\/(live-sessions|run-session|captions|live-source|settle-live)\.ts$/
/** The only files that may import them: the running session itself and the composition root. */
const STARTERS = /^(application\/running\/|interfaces\/compose\/(health|service|worker-sessions)\.ts$)/

const unexpectedStarts = (files: ReturnType<typeof productSources>): ReadonlyArray<string> =>
  files.flatMap(({ path, imports }) =>
    imports.filter((name) => STARTS.test(name) && !STARTERS.test(path)).map((name) => `${path} → ${name}`),
  )

test('only run-lives and a sender start a pipeline', (t) => {
  t.deepEqual(unexpectedStarts(sources), [])
  const route = sourceOf(
    'application/lives/commands/create-live.ts',
    "import { createLiveSessions } from '../../running/live-sessions.ts'",
  )
  t.is(unexpectedStarts([route]).length, 1)
  const pullers = sources
    .filter(({ path }) => /\bruns\.pull\(/.test(readFileSync(path, 'utf8')))
    .map(({ path }) => path)
  t.deepEqual(pullers, ['application/running/settle-live.ts'], 'only settle-live.ts starts to pull a source')
  const settlers = sources
    .filter(({ imports }) => imports.includes('application/running/settle-live.ts'))
    .map(({ path }) => path)
  t.deepEqual(settlers, ['application/running/run-lives.ts'])
})

const forbidden: ReadonlyArray<readonly [string, string]> = [
  ['domain/live/decider.ts', "import { createHash } from 'node:crypto'"],
  ['domain/live/decider.ts', "import type { EventStore } from '../../application/ports/event-store.ts'"],
  ['application/lives/commands/create-live.ts', "import { readFile } from 'node:fs/promises'"],
  ['application/lives/commands/create-live.ts', "export { x } from '../../../infrastructure/settings/settings.ts'"],
  ['application/lives/commands/create-live.ts', "const x = await import('../../../projections/lives/projection.ts')"],
  ['application/ports/engine.ts', "import { createLiveBus } from '../pipeline/live-bus.ts'"],
  ['projections/lives/projection.ts', "import { live } from '../../domain/live/decider.ts'"],
  ['projections/lives/projection.ts', "import { queries } from '../../application/queries.ts'"],
  ['infrastructure/settings/settings.ts', "import { createLive } from '../../application/lives/create-live.ts'"],
  ['interfaces/http/app.ts', "import { open } from '../../infrastructure/sqlite/event-log/event-store.ts'"],
  ['interfaces/http/routes/lives.ts', "import { lives } from '../../../projections/lives/projection.ts'"],
  ['infrastructure/observability/logger.ts', "import { handleCommand } from '../../application/log/handle-command.ts'"],
  ['interfaces/ws/listeners/caption-hub.ts', "import { compose } from '../../compose.ts'"],
  ['interfaces/console/main.ts', "import { embedSnippet } from '../http/codecs/embed-snippet.ts'"],
  ['interfaces/console/main.ts', "import { readFileSync } from 'node:fs'"],
  ['interfaces/http/app.ts', "import { view } from '../console/ui/tags.ts'"],
]

for (const [path, text] of forbidden)
  test(`the check reports a forbidden import: ${path} with ${text}`, (t) => {
    t.is(brokenArrows([sourceOf(path, text)]).length, 1)
  })

test('the check reports a cycle', (t) => {
  const ring = [
    sourceOf('domain/a.ts', "import './b.ts'"),
    sourceOf('domain/b.ts', "import './c.ts'"),
    sourceOf('domain/c.ts', "import './a.ts'"),
  ]
  t.deepEqual(cycles(ring), [['domain/a.ts', 'domain/b.ts', 'domain/c.ts']])
})
