import { once } from 'node:events'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as E from 'fp-ts/lib/Either.js'
import { WebSocket } from 'ws'
import type { readSettings } from '../infrastructure/settings.ts'
import type { openSqliteEventStore } from '../infrastructure/sqlite/event-log/event-store.ts'
import type { startServiceProcess } from '../interfaces/cli/service-process.ts'
import { createApiClient } from '../interfaces/client/client.ts'
import type { LiveSession } from '../interfaces/client/operations.ts'
import { ROOT } from './audio.ts'
import { timed } from './cpu-time.ts'
import { appendAtOnce } from './durable-append.ts'
import type { Benchmark, Contest, Round, Skipped } from './harness.ts'
import { PASSWORD, settingsFor, untilReady, USERNAME } from './start.ts'

/** A checkout of another version with its packages. */
const BEFORE = process.env['STENOLOG_BENCH_BEFORE']
const SKIPPED: Skipped = {
  skipped: 'set STENOLOG_BENCH_BEFORE to the folder of another checkout, its packages installed',
}

/** By how much a start may take longer, with what each open session adds to it. */
const START_SECONDS = 0.05
const START_SECONDS_A_SESSION = 0.005

const range = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, i) => i)

/** What a checkout is asked for: both versions have it, with the same signature. */
interface Modules {
  readonly openSqliteEventStore: typeof openSqliteEventStore
  readonly startServiceProcess: typeof startServiceProcess
  readonly readSettings: typeof readSettings
}

const modulesOf = async (checkout: string): Promise<Modules> => {
  const load = (path: string): Promise<object> => import(pathToFileURL(join(resolve(checkout), path)).href)
  const log = await load('infrastructure/sqlite/event-log/event-store.ts')
  const service = await load('interfaces/cli/service-process.ts')
  const settings = await load('infrastructure/settings.ts')
  return { ...log, ...service, ...settings } as Modules
}

interface Side {
  readonly round: () => Promise<Round>
  readonly close: () => Promise<void>
}

/** Our checkout and the other one at the same work, each in a directory of its own. */
const contest = async (
  open: (modules: Modules, directory: string, isOurs: boolean) => Promise<Side>,
): Promise<Contest | Skipped> => {
  if (BEFORE === undefined) return SKIPPED
  const directory = await mkdtemp(join(tmpdir(), 'stenolog-bench-'))
  const ours = await open(await modulesOf(ROOT), join(directory, 'ours'), true)
  const before = await open(await modulesOf(BEFORE), join(directory, 'before'), false)
  return {
    ours: ours.round,
    peers: before.round,
    close: async () => {
      await Promise.all([ours.close(), before.close()])
      await rm(directory, { recursive: true, force: true })
    },
  }
}

const appends = (name: string, writers: number, count: number): Benchmark => ({
  name,
  meaning: `durable appends by ${writers} writers at once, each to a stream of its own and waiting for each answer`,
  peer: 'the same by the checkout of STENOLOG_BENCH_BEFORE',
  unit: 'appends',
  basis: 'wall',
  atLeast: 0.95,
  rounds: 41,
  warmUp: true,
  prepare: () =>
    contest(async ({ openSqliteEventStore }, directory) => ({
      round: async () => {
        // Opened anew: where the system puts the writer's thread makes three times the difference, and it stays there.
        const store = await openSqliteEventStore({ file: `${directory}.sqlite` })
        await appendAtOnce(store, writers, count)
        const round = await appendAtOnce(store, writers, count)
        await store.close()
        return round
      },
      close: async () => undefined,
    })),
})

/** A service with an administrator who may have as many sessions as they like. */
const openService = async ({ startServiceProcess, readSettings }: Modules, directory: string) => {
  // A version that knows no such setting admits by memory alone.
  const unlimited = { STENOLOG_OVERCOMMIT: '0' }
  const service = await startServiceProcess({
    ...settingsFor(directory), STENOLOG_RATE_LIMIT: '0', STENOLOG_VRAM_MB: '1000000', STENOLOG_PENDING_TIMEOUT: '0',
    ...(E.isRight(readSettings(unlimited)) ? unlimited : {}),
  })
  const { url, end } = service
  await untilReady(url)
  const body = { username: USERNAME, password: PASSWORD }
  const { access_token: token } = await createApiClient({ url }).call('login', { body })
  const client = createApiClient({ url, token })
  await client.call('changeUser', { path: { id: 1 }, body: { max_sessions: 1_000_000 } })
  const create = async (): Promise<LiveSession> =>
    (await client.call('createLive', { body: { model: 'demo-en', language: 'en' } })).data
  return { client, create, url, end }
}

const creates = (name: string, clients: number, count: number, rounds: number): Benchmark => ({
  name,
  meaning: `sessions created over HTTP by ${clients} clients at once, each waiting for each answer; no ends counted`,
  peer: 'the same by the service of the checkout of STENOLOG_BENCH_BEFORE',
  unit: 'creates',
  basis: 'wall',
  atLeast: 0.95,
  rounds,
  warmUp: true,
  prepare: () =>
    contest(async (modules, directory) => {
      const { client, create, end } = await openService(modules, directory)
      const one = async (): Promise<ReadonlyArray<number>> => {
        const ids: Array<number> = []
        for (const _ of range(count / clients)) ids.push((await create()).id)
        return ids
      }
      return {
        round: async () => {
          let made: ReadonlyArray<number> = []
          const round = await timed(count, async () => {
            made = (await Promise.all(range(clients).map(one))).flat()
          })
          for (const id of made) await client.call('finishLive', { path: { id } })
          return round
        },
        close: async () => void (await end('SIGTERM')),
      }
    }),
})

/** Lets somebody speak to a session: it is active. */
const speak = async (url: string, { relative_path: path, sender_token: token }: LiveSession): Promise<void> => {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}${path}?token=${encodeURIComponent(token)}`)
  // The service that it speaks to is killed.
  socket.on('error', () => undefined)
  const started = Promise.withResolvers<void>()
  socket.on('message', (message: Buffer) => {
    if (message.includes('"started"')) started.resolve()
  })
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'config' }))
  await started.promise
}

const starts = (name: string, open: number): Benchmark => ({
  name,
  meaning: 'the service from the beginning of its process until it says ready, behind one that was killed with '
    + `${open} open sessions, every other one of them spoken to`,
  peer: `the same of the checkout of STENOLOG_BENCH_BEFORE, which is given ${START_SECONDS * 1000} ms more, `
    + `and ${START_SECONDS_A_SESSION * 1000} ms for each session`,
  unit: 'starts',
  basis: 'wall',
  atLeast: 1,
  rounds: 21,
  warmUp: true,
  prepare: () =>
    contest(async (modules, directory, isOurs) => {
      const { create, url, end } = await openService(modules, directory)
      for (const number of range(open)) {
        const live = await create()
        if (number % 2 === 0) await speak(url, live)
      }
      await end('SIGKILL')
      const allowed = isOurs ? 0 : START_SECONDS + open * START_SECONDS_A_SESSION
      return {
        round: async () => {
          const copy = `${directory}-copy`
          // Its socket cannot be copied.
          await cp(directory, copy, { recursive: true, filter: (path) => !path.endsWith('.sock') })
          const { promise: isReady, resolve: ready } = Promise.withResolvers<void>()
          const round = timed(1, () => isReady)
          const service = await modules.startServiceProcess(settingsFor(copy))
          await untilReady(service.url)
          ready()
          const { seconds, ...rest } = await round
          await service.end('SIGKILL')
          await rm(copy, { recursive: true, force: true })
          return { ...rest, seconds: seconds + allowed }
        },
        close: async () => undefined,
      }
    }),
})

/** What the version of another checkout does, beside ours. */
export const beside: ReadonlyArray<Benchmark> = [
  appends('before-append-1', 1, 1000),
  appends('before-append', 64, 12_800),
  creates('before-create-1', 1, 20, 101),
  creates('before-create', 16, 160, 41),
  starts('before-start', 0),
  starts('before-start-open', 40),
]
