import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WebSocket } from 'ws'
import { openEventStoreDb } from '../infrastructure/eventstoredb/event-store.ts'
import { openSqliteEventStore } from '../infrastructure/sqlite/event-log/event-store.ts'
import type { LiveSession } from '../interfaces/client/operations.ts'
import { EVENTSTORE_FOLDER } from '../test/support/stores/chosen-stores.ts'
import { numberedAudio, numbersIn } from '../test/support/cluster/numbered-words.ts'
import { startEventStoreServer } from '../test/support/stores/eventstoredb-server/start.ts'
import { openCluster, type ClusterService } from './cluster-service.ts'
import { timed } from './cpu-time.ts'
import { appendAtOnce } from './durable-append.ts'
import type { Benchmark, Round } from './harness.ts'

const CLIENTS = 16
/** Number of sessions in a round. It is below the limit of 100 sessions of the user. */
const CREATES = 96
const SESSIONS = 8
/** Number of words in each session. */
const WORDS = 200
const FRAME_SAMPLES = 1600
const [WRITERS, APPENDS] = [64, 12_800]

const range = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, i) => i)

/** Returns an element. Indexes beyond the end start again at the first element. */
const at = <A>(all: ReadonlyArray<A>, index: number): A => all[index % all.length] as A

const create = async ({ clients }: ClusterService, index: number): Promise<LiveSession> =>
  (await at(clients, index).call('createLive', { body: { model: 'demo-en', language: 'en' } })).data

const createSessions = async (service: ClusterService): Promise<Round> => {
  let createdIds: ReadonlyArray<number> = []
  const createInTurn = async (client: number): Promise<ReadonlyArray<number>> => {
    const ids: Array<number> = []
    for (const _ of range(CREATES / CLIENTS)) ids.push((await create(service, client)).id)
    return ids
  }
  const round = await service.withShares('creates', () =>
    timed(CREATES, async () => {
      createdIds = (await Promise.all(range(CLIENTS).map(createInTurn))).flat()
    }))
  for (const [index, id] of createdIds.entries()) await at(service.clients, index).call('finishLive', { path: { id } })
  return round
}

const open = async (url: string, { relative_path: path }: LiveSession, token: string): Promise<WebSocket> => {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}${path}?token=${encodeURIComponent(token)}`)
  await once(socket, 'open')
  return socket
}

/**
 * Sends all words at full speed to one process. Resolves to the number of words that a listener at the next process
 * received.
 */
const wordsReceived = async (
  { urls }: ClusterService,
  live: LiveSession,
  index: number,
  audio: Int16Array,
): Promise<number> => {
  const sender = await open(at(urls, index), live, live.sender_token)
  const listener = await open(at(urls, index + 1), live, live.listener_token)
  let words = 0
  listener.on('message', (data: Buffer) => {
    const frame = JSON.parse(String(data)) as { readonly final?: boolean; readonly text?: string }
    if (frame.final === true) words += numbersIn(frame.text ?? '').length
  })
  const over = once(listener, 'close')
  sender.send(JSON.stringify({ type: 'config' }))
  for (let from = 0; from < audio.length; from += FRAME_SAMPLES) {
    const frame = audio.subarray(from, from + FRAME_SAMPLES)
    await new Promise((resolve) => sender.send(Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength), resolve))
  }
  sender.send(JSON.stringify({ type: 'FINISH' }))
  await over
  return words
}

const sendWords = async (service: ClusterService, audio: Int16Array): Promise<Round> => {
  const lives = await Promise.all(range(SESSIONS).map((index) => create(service, index)))
  return service.withShares('words', async () => {
    let words = 0
    const round = await timed(0, async () => {
      const each = await Promise.all(lives.map((live, index) => wordsReceived(service, live, index, audio)))
      words = each.reduce((sum, count) => sum + count, 0)
    })
    if (words !== SESSIONS * WORDS) throw new Error(`${words} of ${SESSIONS * WORDS} words were received`)
    return { ...round, work: words }
  })
}

const clusterBenchmark = (
  unit: 'creates' | 'words', processes: number, meaning: string, rounds: number,
  run: (service: ClusterService) => Promise<Round>,
): Benchmark => ({
  name: `cluster-${unit}-${processes}`,
  meaning: `${meaning}, by ${processes} processes with all roles on one EventStoreDB and one MongoDB test double`,
  peer: 'the same work by one process on its own servers',
  unit,
  basis: 'wall',
  atLeast: null,
  rounds,
  warmUp: true,
  prepare: async () => {
    const [ours, one] = [await openCluster(processes), await openCluster(1)]
    return {
      ours: () => run(ours),
      peers: () => run(one),
      close: async () => {
        await ours.close()
        await one.close()
      },
    }
  },
})

const creates = (processes: number): Benchmark =>
  clusterBenchmark(
    'creates',
    processes,
    `sessions created over HTTP by ${CLIENTS} concurrent clients; each client waits for its answer`,
    5,
    createSessions,
  )

const wordsBy = (processes: number): Benchmark => {
  const audio = numberedAudio(WORDS)
  const meaning = `words of ${SESSIONS} sessions with audio at full speed; `
    + 'each word is sent once to a listener at another process'
  return clusterBenchmark('words', processes, meaning, 3, (service) => sendWords(service, audio))
}

/** Compares appends to a single EventStoreDB with appends to the embedded event store. */
const appends: Benchmark = {
  name: 'cluster-append',
  meaning: `durable appends by ${WRITERS} concurrent writers, each to its own stream, to a real EventStoreDB of one `
    + `node; each writer waits for its answers`,
  peer: 'the same appends to the embedded event store',
  unit: 'appends',
  basis: 'wall',
  atLeast: null,
  rounds: 3,
  warmUp: true,
  prepare: async () => {
    if (EVENTSTORE_FOLDER === undefined)
      return { skipped: 'set STENOLOG_TEST_EVENTSTORE_BIN to the folder of an EventStoreDB' }
    const server = await startEventStoreServer({ nodes: 1 })
    const directory = await mkdtemp(join(tmpdir(), 'stenolog-bench-'))
    const [ours, embedded] = [
      await openEventStoreDb({ url: server.url }),
      await openSqliteEventStore({ file: join(directory, 'events.sqlite') }),
    ]
    return {
      ours: () => appendAtOnce(ours, WRITERS, APPENDS),
      peers: () => appendAtOnce(embedded, WRITERS, APPENDS),
      close: async () => {
        await Promise.all([ours.close(), embedded.close()])
        await server.dispose()
        await rm(directory, { recursive: true, force: true })
      },
    }
  },
}

export const clusters: ReadonlyArray<Benchmark> = [creates(2), creates(4), wordsBy(2), wordsBy(4), appends]
