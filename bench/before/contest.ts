import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { readSettings } from '../../infrastructure/settings/settings.ts'
import type { createSpeechEngine } from '../../infrastructure/onnx/process/engine-client.ts'
import type { openSqliteEventStore } from '../../infrastructure/sqlite/event-log/event-store.ts'
import type { startServiceProcess } from '../../interfaces/cli/service-process.ts'
import { ROOT } from '../audio.ts'
import type { Contest, Round, Skipped } from '../harness.ts'
import type { recordLive } from '../recorded-live.ts'

/** Folder of a checkout of another version, with installed packages. */
const OTHER_CHECKOUT = process.env['STENOLOG_BENCH_BEFORE']
const SKIPPED: Skipped = {
  skipped: 'set STENOLOG_BENCH_BEFORE to the folder of another checkout with installed packages',
}

/** The modules that the benchmarks use. Both versions must have them with equal signatures. */
export interface Modules {
  readonly openSqliteEventStore: typeof openSqliteEventStore
  readonly startServiceProcess: typeof startServiceProcess
  readonly readSettings: typeof readSettings
  readonly createSpeechEngine: typeof createSpeechEngine
  readonly recordLive: typeof recordLive
}

const FILES = [
  'infrastructure/sqlite/event-log/event-store.ts',
  'interfaces/cli/service-process.ts',
  'infrastructure/settings/settings.ts',
  'infrastructure/onnx/process/engine-client.ts',
  'bench/recorded-live.ts',
]

const modulesOf = async (checkout: string): Promise<Modules> => {
  const load = (file: string): Promise<object> => import(pathToFileURL(join(checkout, file)).href)
  const loaded = await Promise.all(FILES.map(load))
  return Object.assign({}, ...loaded) as Modules
}

interface Opening {
  readonly checkout: string
  readonly modules: Modules
  /** A path of which the side may create the directory, or files whose names begin with it. */
  readonly directory: string
  readonly isOurs: boolean
}

interface Side {
  readonly round: () => Promise<Round>
  readonly close: () => Promise<void>
}

/**
 * Runs our checkout, the other checkout and a second instance of the other checkout on equal work, each in its own
 * directory.
 */
export const contest = async (open: (opening: Opening) => Promise<Side>): Promise<Contest | Skipped> => {
  if (OTHER_CHECKOUT === undefined) return SKIPPED
  const root = await mkdtemp(join(tmpdir(), 'stenolog-bench-'))
  const openSide = async (checkout: string, name: string): Promise<Side> =>
    open({ checkout, modules: await modulesOf(checkout), directory: join(root, name), isOurs: name === 'ours' })
  const other = resolve(OTHER_CHECKOUT)
  const [ours, before, again] =
    [await openSide(ROOT, 'ours'), await openSide(other, 'before'), await openSide(other, 'again')]
  return {
    ours: ours.round,
    peers: before.round,
    peersAgain: again.round,
    close: async () => {
      await Promise.all([ours, before, again].map(({ close }) => close()))
      await rm(root, { recursive: true, force: true })
    },
  }
}
