import { once } from 'node:events'
import { cp, rm } from 'node:fs/promises'
import * as E from 'fp-ts/lib/Either.js'
import { WebSocket } from 'ws'
import { createApiClient } from '../../interfaces/client/client.ts'
import type { LiveSession } from '../../interfaces/client/operations.ts'
import { timed } from '../cpu-time.ts'
import type { Benchmark } from '../harness.ts'
import { PASSWORD, settingsFor, untilReady, USERNAME } from '../start.ts'
import { contest, type Modules } from './contest.ts'

/** Seconds by which our start may be slower, and additional seconds for each open session. */
const EXTRA_START_SECONDS = 0.05
const EXTRA_START_SECONDS_PER_SESSION = 0.005

const range = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, i) => i)

/** Starts a service with an administrator without a session limit. */
const openService = async ({ startServiceProcess, readSettings }: Modules, directory: string) => {
  // Older versions lack this setting and admit sessions by memory only.
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
  meaning: `sessions created over HTTP by ${clients} concurrent clients; each client waits for its answer; finishing `
    + `the sessions does not count`,
  peer: 'the same requests to the service of the checkout of STENOLOG_BENCH_BEFORE',
  unit: 'creates',
  basis: 'wall',
  atLeast: 0.95,
  rounds,
  warmUp: true,
  prepare: () =>
    contest(async ({ modules, directory }) => {
      const { client, create, end } = await openService(modules, directory)
      const createInTurn = async (): Promise<ReadonlyArray<number>> => {
        const ids: Array<number> = []
        for (const _ of range(count / clients)) ids.push((await create()).id)
        return ids
      }
      return {
        round: async () => {
          let ids: ReadonlyArray<number> = []
          const round = await timed(count, async () => {
            ids = (await Promise.all(range(clients).map(createInTurn))).flat()
          })
          for (const id of ids) await client.call('finishLive', { path: { id } })
          return round
        },
        close: async () => void (await end('SIGTERM')),
      }
    }),
})

/** Connects a sender, so the session becomes active. */
const speak = async (url: string, { relative_path: path, sender_token: token }: LiveSession): Promise<void> => {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}${path}?token=${encodeURIComponent(token)}`)
  // The benchmark kills the service, so errors of this socket are expected.
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
  meaning: 'starts the service and waits until it is ready, after a kill with '
    + `${open} open sessions; every second session was active`,
  peer: `the same start of the checkout of STENOLOG_BENCH_BEFORE, which gets ${EXTRA_START_SECONDS * 1000} ms more, `
    + `and ${EXTRA_START_SECONDS_PER_SESSION * 1000} ms more per session`,
  unit: 'starts',
  basis: 'wall',
  atLeast: 0.95,
  rounds: 31,
  warmUp: true,
  prepare: () =>
    contest(async ({ modules, directory, isOurs }) => {
      const { create, url, end } = await openService(modules, directory)
      for (const number of range(open)) {
        const live = await create()
        if (number % 2 === 0) await speak(url, live)
      }
      await end('SIGKILL')
      const allowed = isOurs ? 0 : EXTRA_START_SECONDS + open * EXTRA_START_SECONDS_PER_SESSION
      return {
        round: async () => {
          const copy = `${directory}-copy`
          // A control socket cannot be copied.
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

/** Comparisons of the whole service with that of the other checkout. */
export const serviceComparisons: ReadonlyArray<Benchmark> = [
  creates('before-create-1', 1, 20, 101),
  creates('before-create', 16, 80, 31),
  starts('before-start', 0),
  starts('before-start-open', 40),
]
