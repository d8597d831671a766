import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import type { StoredEvent } from '../../../application/ports/event-store.ts'
import { ADMISSION_STREAM, Admitted, Moved, WorkerJoined, WorkerLeft } from '../../../domain/admission/events.ts'
import { eventReader } from '../../../domain/read-event.ts'
import { startMongoDouble } from '../doubles/mongodb/process.ts'
import { launch, type Launched } from '../service/launch.ts'
import { ADMIN, prefixed } from '../service/service.ts'
import { startEventStoreDb } from '../stores/eventstoredb.ts'
import { openLogOf } from '../stores/stores.ts'
import { freePort } from '../tools/free-port.ts'
import { rightOf } from '../tools/right.ts'
import { openTcpProxy, type TcpProxy } from '../tools/tcp-proxy.ts'
import { temporaryDirectory } from '../tools/temporary-directory.ts'

type Settings = Readonly<Record<string, string>>

/** A server, or the other processes, from which a process can be cut off. */
export type Peer = 'mongodb' | 'eventstoredb' | 'peers'

/** One process of the service. Its name and data directory outlive its restarts. */
export interface ClusterProcess {
  readonly name: string
  readonly dataDirectory: string
  readonly url: () => string
  readonly pid: () => number
  readonly log: () => string
  readonly kill: () => Promise<void>
  /** Sends SIGTERM and waits for the end. Returns the exit code. */
  readonly stop: () => Promise<number | null>
  readonly freeze: () => void
  readonly thaw: () => void
  readonly start: () => Promise<void>
  readonly isRunning: () => boolean
  readonly cut: (from: Peer) => void
  readonly mend: (from: Peer) => void
}

/** The servers and processes of one service. */
export interface Cluster {
  /** Starts a process. Default role: `all`. `variables`: environment variables that are no settings. */
  readonly add: (name: string, role?: string, settings?: Settings, variables?: Settings) => Promise<ClusterProcess>
  readonly eventStore: Awaited<ReturnType<typeof startEventStoreDb>>
  readonly mongo: Awaited<ReturnType<typeof startMongoDouble>>
  /** The settings with which a tool finds the stores. */
  readonly stores: Settings
  /** Returns the process that runs a session, by the log; throws when no process runs it. */
  readonly workerOf: (liveId: number) => Promise<ClusterProcess>
  /** Returns the names of the workers that have joined and not left, by the log, sorted. */
  readonly workers: () => Promise<ReadonlyArray<string>>
  /** Reads a stream of the log. */
  readonly read: (stream: string) => Promise<ReadonlyArray<StoredEvent>>
}

const NUMBERED_ENGINE = join(import.meta.dirname, 'numbered-engine-hook.ts')

const placementOf = eventReader([Admitted, Moved])
const membershipOf = eventReader([WorkerJoined, WorkerLeft])

const portOf = (url: string): number => Number(/:(\d+)(?:[/?]|$)/.exec(url.replace(/^\w+:\/\//, ''))?.[1])

/** Replaces the port of a URL by the port of a proxy. */
const through = (url: string, { port }: Pick<TcpProxy, 'port'>): string => url.replace(`:${portOf(url)}`, `:${port}`)

/** The connections of a process to one peer. */
type Line = Pick<TcpProxy, 'cut' | 'mend' | 'close'>

/** Opens a proxy whose `mend` resets the connections that were cut. */
const openLine = async (target: () => number): Promise<Line & Pick<TcpProxy, 'port'>> => {
  const proxy = await openTcpProxy(target)
  const mend = (): void => {
    proxy.reset()
    proxy.mend()
  }
  return { ...proxy, mend }
}

export interface ClusterOptions {
  /** The engine transcribes numbered words (see numbered-words.ts). Default: true. */
  readonly isScripted?: boolean
  /** MongoDB is a replica set of three members, which hold elections. */
  readonly isReplicaSet?: boolean
}

/**
 * Starts the servers of a service; `add` starts its processes. All of them end with the test. Each process reaches the
 * servers, and is reached by the other processes, through its own proxies. The proxy to an EventStoreDB of several
 * nodes has no effect, because clients learn the real addresses of the nodes.
 */
export const startCluster = async (
  t: Pick<ExecutionContext, 'teardown'>,
  { isScripted = true, isReplicaSet = false }: ClusterOptions = {},
): Promise<Cluster> => {
  const keys = await temporaryDirectory()
  t.teardown(keys.remove)
  const keyFile = join(keys.path, 'master.key')
  await writeFile(keyFile, randomBytes(32))
  const eventStore = await startEventStoreDb()
  t.teardown(eventStore.dispose)
  const mongo = await startMongoDouble({ replicaSet: isReplicaSet ? 'rs0' : '' })
  t.teardown(mongo.dispose)
  const stores = { EVENTSTORE_URL: eventStore.url, MONGO_URL: mongo.url('stenolog'), MASTER_KEY_FILE: keyFile }

  const processes = new Map<string, ClusterProcess>()
  const read: Cluster['read'] = async (stream) => {
    const log = await openLogOf({ dataDirectory: '', stores })
    try {
      return await rightOf(log.read(stream))
    } finally {
      await log.close()
    }
  }
  const workerOf: Cluster['workerOf'] = async (liveId) => {
    const placements = (await read(ADMISSION_STREAM)).map(placementOf)
    const worker = placements.findLast((event) => event?.data.liveId === liveId)?.data.worker
    const found = processes.get(worker ?? '')
    if (found === undefined) throw new Error(`no process runs session ${liveId}`)
    return found
  }
  const workers: Cluster['workers'] = async () => {
    const joined = new Map<string, string | null>()
    for (const event of (await read(ADMISSION_STREAM)).map(membershipOf)) {
      if (event === undefined) continue
      const { worker, incarnation } = event.data
      if (event.type === 'WorkerJoined') joined.set(worker, incarnation)
      else if (joined.get(worker) === incarnation) joined.delete(worker)
    }
    return [...joined.keys()].toSorted()
  }

  /** Members of a replica set publish their addresses, so a process gets its own addresses from the double. */
  const lineToMongo = async (name: string): Promise<Line & { readonly url: string }> => {
    if (!isReplicaSet) {
      const line = await openLine(() => portOf(stores.MONGO_URL))
      return { ...line, url: through(stores.MONGO_URL, line) }
    }
    const { url, line } = await mongo.door(name)
    return {
      url: url('stenolog'),
      cut: () => void line('silent'),
      mend: () => void line('open'),
      close: () => Promise.resolve(),
    }
  }

  const add: Cluster['add'] = async (name, role = 'all', settings = {}, variables = {}) => {
    const data = await temporaryDirectory()
    t.teardown(data.remove)
    const internal = await freePort()
    const mongodb = await lineToMongo(name)
    const eventstoredb = await openLine(() => portOf(stores.EVENTSTORE_URL))
    const peers = await openLine(() => internal)
    const lines: Readonly<Record<Peer, Line>> = { mongodb, eventstoredb, peers }
    for (const line of Object.values(lines)) t.teardown(line.close)
    const environment = {
      ...prefixed({
        ...stores,
        EVENTSTORE_URL: through(stores.EVENTSTORE_URL, eventstoredb),
        MONGO_URL: mongodb.url,
        NODE_NAME: name, ROLE: role, PORT: '0', DATA_DIR: data.path,
        INTERNAL_PORT: String(internal), INTERNAL_URL: `127.0.0.1:${peers.port}`,
        ADMIN_USERNAME: ADMIN.username, ADMIN_PASSWORD: ADMIN.password,
        RATE_LIMIT: '0', DRAIN_TIMEOUT: '5s', VRAM_MB: '100000', OVERCOMMIT: '0',
        ...settings,
      }),
      ...variables,
      ...(isScripted && { NODE_OPTIONS: `--import=${NUMBERED_ENGINE}` }),
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
    let latest = await start()
    const added: ClusterProcess = {
      name,
      dataDirectory: data.path,
      url: () => latest.url,
      pid: () => latest.run.pid(),
      log: () => latest.run.stderr(),
      kill: async () => {
        latest.run.kill('SIGKILL')
        await latest.run.exited
      },
      stop: () => {
        latest.run.kill('SIGTERM')
        return latest.run.exited
      },
      freeze: () => latest.run.kill('SIGSTOP'),
      thaw: () => latest.run.kill('SIGCONT'),
      start: async () => {
        latest = await start()
      },
      isRunning: () => running === latest.run,
      cut: (from) => lines[from].cut(),
      mend: (from) => lines[from].mend(),
    }
    processes.set(name, added)
    return added
  }
  return { add, eventStore, mongo, stores, read, workerOf, workers }
}
