import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { StoredEvent } from '../../../application/ports/event-store.ts'
import { ADMISSION_STREAM, Admitted, Moved, WorkerJoined, WorkerLeft } from '../../../domain/admission/events.ts'
import { eventReader } from '../../../domain/read-event.ts'
import { startEventStoreDb } from '../stores/eventstoredb.ts'
import { launch } from '../service/launch.ts'
import type { Launched } from '../service/launch.ts'
import { startMongoDouble } from '../doubles/mongodb/process.ts'
import { freePort } from '../tools/free-port.ts'
import { ADMIN, prefixed } from '../service/service.ts'
import { openLogOf } from '../stores/stores.ts'
import { temporaryDirectory } from '../tools/temporary-directory.ts'
import { openGate } from './gate.ts'
import type { Gate } from './gate.ts'

type Settings = Readonly<Record<string, string>>

/** What a process can be cut off from. */
export type Peer = 'mongodb' | 'eventstoredb' | 'peers'

/** One process of a service, on a data directory and under a name that outlive it. */
export interface ClusterProcess {
  readonly name: string
  readonly dataDirectory: string
  readonly url: () => string
  readonly pid: () => number
  readonly log: () => string
  readonly kill: () => Promise<void>
  /** SIGTERM, and until it has ended; its exit code. */
  readonly stop: () => Promise<number | null>
  readonly freeze: () => void
  readonly thaw: () => void
  readonly start: () => Promise<void>
  /** Neither killed nor ended. */
  readonly isRunning: () => boolean
  readonly cut: (from: Peer) => void
  readonly mend: (from: Peer) => void
}

/** Servers and processes of one service. */
export interface Cluster {
  /** Starts a process with a role; `all` unless told. */
  readonly add: (name: string, role?: string, settings?: Settings) => Promise<ClusterProcess>
  readonly eventStore: Awaited<ReturnType<typeof startEventStoreDb>>
  readonly mongo: Awaited<ReturnType<typeof startMongoDouble>>
  /** Of the stores, as a tool takes them. */
  readonly stores: Settings
  /** The process that runs a live, by the log; throws while there is none. */
  readonly workerOf: (liveId: number) => Promise<ClusterProcess>
  /** Names of those that have joined and not left, by the log, in order. */
  readonly workers: () => Promise<ReadonlyArray<string>>
  /** A stream of the log. */
  readonly read: (stream: string) => Promise<ReadonlyArray<StoredEvent>>
}

const HEARS_NUMBERS = join(import.meta.dirname, 'numbered-engine-hook.ts')

const placedBy = eventReader([Admitted, Moved])
const joinedBy = eventReader([WorkerJoined, WorkerLeft])

const portOf = (url: string): number => Number(/:(\d+)(?:[/?]|$)/.exec(url.replace(/^\w+:\/\//, ''))?.[1])

const through = (url: string, gate: Gate): string => url.replace(`:${portOf(url)}`, `:${gate.port}`)

type Cut = Pick<Gate, 'cut' | 'mend' | 'close'>

export interface ClusterOptions {
  /** Its engine hears numbered words. */
  readonly isScripted?: boolean
  /** MongoDB is three members, which hold elections. */
  readonly isReplicaSet?: boolean
}

/**
 * A service of several processes on servers of its own, which end with the test. Each process reaches each server, and is
 * reached by the others, through gates of its own. Nodes of an EventStoreDB that are several tell their own addresses: who
 * knows those goes past the gate, and is cut off from nothing.
 */
export const startCluster = async (
  t: Pick<ExecutionContext, 'teardown'>, { isScripted = true, isReplicaSet = false }: ClusterOptions = {},
): Promise<Cluster> => {
  const keys = await temporaryDirectory()
  t.teardown(keys.remove)
  const keyFile = join(keys.path, 'master.key')
  await writeFile(keyFile, randomBytes(32))
  const [eventStore, mongo] = [await startEventStoreDb(), await startMongoDouble({ replicaSet: isReplicaSet ? 'rs0' : '' })]
  for (const { dispose } of [eventStore, mongo]) t.teardown(dispose)
  const stores = { EVENTSTORE_URL: eventStore.url, MONGO_URL: mongo.url('stenolog'), MASTER_KEY_FILE: keyFile }

  const processes = new Map<string, ClusterProcess>()
  const read: Cluster['read'] = async (stream) => {
    const log = await openLogOf({ dataDirectory: '', stores })
    try {
      const events = await log.read(stream)()
      if (E.isLeft(events)) throw new Error(events.left.reason)
      return events.right
    } finally {
      await log.close()
    }
  }
  const workerOf: Cluster['workerOf'] = async (liveId) => {
    const placed = (await read(ADMISSION_STREAM)).map(placedBy).findLast((event) => event?.data.liveId === liveId)
    const found = processes.get(placed?.data.worker ?? '')
    if (found === undefined) throw new Error(`nobody runs live ${liveId}`)
    return found
  }
  const workers: Cluster['workers'] = async () => {
    const joined = new Map<string, string | null>()
    for (const event of (await read(ADMISSION_STREAM)).map(joinedBy)) {
      if (event?.type === 'WorkerJoined') joined.set(event.data.worker, event.data.incarnation)
      else if (event !== undefined && joined.get(event.data.worker) === event.data.incarnation) joined.delete(event.data.worker)
    }
    return [...joined.keys()].toSorted()
  }

  /** A set's members tell their addresses: those of a door are this process's own. */
  const wayToMongo = async (name: string): Promise<{ readonly url: string; readonly gate: Cut }> => {
    if (!isReplicaSet) {
      const gate = await openGate(() => portOf(stores.MONGO_URL))
      return { url: through(stores.MONGO_URL, gate), gate }
    }
    const { url, line } = await mongo.door(name)
    const cut = (): void => void line('silent')
    return { url: url('stenolog'), gate: { cut, mend: () => void line('open'), close: () => Promise.resolve() } }
  }

  const add: Cluster['add'] = async (name, role = 'all', settings = {}) => {
    const data = await temporaryDirectory()
    t.teardown(data.remove)
    const internal = await freePort()
    const toMongo = await wayToMongo(name)
    const [toEventStore, toPeers] = [await openGate(() => portOf(stores.EVENTSTORE_URL)), await openGate(() => internal)]
    const gates: Readonly<Record<Peer, Cut>> = { mongodb: toMongo.gate, eventstoredb: toEventStore, peers: toPeers }
    for (const gate of Object.values(gates)) t.teardown(gate.close)
    const environment = {
      ...prefixed({
        ...stores,
        EVENTSTORE_URL: through(stores.EVENTSTORE_URL, toEventStore),
        MONGO_URL: toMongo.url,
        NODE_NAME: name, ROLE: role, PORT: '0', DATA_DIR: data.path,
        INTERNAL_PORT: String(internal), INTERNAL_URL: `127.0.0.1:${toPeers.port}`,
        ADMIN_USERNAME: ADMIN.username, ADMIN_PASSWORD: ADMIN.password,
        RATE_LIMIT: '0', DRAIN_TIMEOUT: '5s', VRAM_MB: '100000', OVERCOMMIT: '0',
        ...settings,
      }),
      ...(isScripted && { NODE_OPTIONS: `--import=${HEARS_NUMBERS}` }),
    }
    let running: Launched | null = null
    const start = async (): Promise<{ readonly run: Launched; readonly url: string }> => {
      const run = launch(t, environment)
      running = run
      void run.exited.then(() => {
        if (running === run) running = null
      })
      return { run, url: await run.url() }
    }
    let now = await start()
    const added: ClusterProcess = {
      name,
      dataDirectory: data.path,
      url: () => now.url,
      pid: () => now.run.pid(),
      log: () => now.run.stderr(),
      kill: async () => {
        now.run.kill('SIGKILL')
        await now.run.exited
      },
      stop: () => {
        now.run.kill('SIGTERM')
        return now.run.exited
      },
      freeze: () => now.run.kill('SIGSTOP'),
      thaw: () => now.run.kill('SIGCONT'),
      start: async () => {
        now = await start()
      },
      isRunning: () => running === now.run,
      cut: (from) => gates[from].cut(),
      mend: (from) => gates[from].mend(),
    }
    processes.set(name, added)
    return added
  }
  return { add, eventStore, mongo, stores, read, workerOf, workers }
}
