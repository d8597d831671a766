import { MongoClient, ReadConcern } from 'mongodb'
import type { Db, DbOptions, MongoClientOptions } from 'mongodb'
import { whyNotDatabases } from './marks.ts'

/** Limit of what a port's method asks of the server: its caller can answer within 2 s where that is away or frozen. */
const LIMIT_MS = 1500
/**
 * What the driver's own limits have more than the caller's: a server that is only slow refuses the request itself and
 * keeps the connection; one that says nothing loses it, and with it the request's place in the pool is free again.
 */
const GRACE_MS = 500
/**
 * Building an index over many documents, or dropping them, takes its time; nobody but a projection that starts or is
 * rebuilt waits for it. What puts one read model in the place of another must not go on after it was said to have
 * failed.
 */
export const PATIENT_MS = 600_000
/** How long the start waits for a server. */
const START_MS = 3000
/** How often the driver looks whether the server is there, and how long it waits for the answer. */
const LOOK_MS = 1000

/** Database of a URL that names none. */
const DATABASE = 'stenolog'

/**
 * Hosts, TLS, credentials and the rest come from the URL.
 * - Polling notices within 2 s that a server is frozen, not only that it is gone, and cuts off the requests that wait for
 *   it; the driver's own stream of hellos takes 10 s longer.
 * - Few connections: requests are short, and a rush of a hundred new ones costs more than waiting for one of these.
 * - No request keeps its connection for longer than its limit, also where the server answers hellos and nothing else:
 *   otherwise sixteen such requests would be the last. The driver's `timeoutMS` would say it all; it has no effect in 7.9.
 */
const clientOptions = (limitMs: number): MongoClientOptions => ({
  appName: 'stenolog',
  serverSelectionTimeoutMS: START_MS,
  connectTimeoutMS: LOOK_MS,
  heartbeatFrequencyMS: LOOK_MS,
  serverMonitoringMode: 'poll',
  maxPoolSize: 16,
  waitQueueTimeoutMS: limitMs,
  socketTimeoutMS: limitMs + GRACE_MS,
  retryReads: true,
  retryWrites: true,
})

/**
 * What the correctness of the adapters asks for, said for each database: options of a client can be undone by its URL.
 * - Acknowledged means durable: projections and keys are never written twice. On a standalone server, where every write
 *   is a majority's, that takes the journal. A write that waits for its majority for too long fails, made or not.
 * - Projections fold what they read and keys are decisions: nothing is read that a new primary may not have, and nothing
 *   from a secondary that lags behind.
 */
const databaseOptions = (limitMs: number): DbOptions => ({
  writeConcern: { w: 'majority', journal: true, wtimeoutMS: limitMs },
  readConcern: new ReadConcern('majority'),
  readPreference: 'primary',
})

interface Options {
  /** STREAM_PREFIX: stands before the names of the databases. */
  readonly prefix?: string | null
  /** Of the connection that it makes. */
  readonly limitMs?: number
}

/** This process's connections to the server. */
export interface MongoConnection {
  readonly readModels: Db
  /** The read models for what may take minutes, over connections of its own, which wait for that long. */
  readonly maintenance: Db
  /** Beside the read models, in a database of its own: emptying those must not lose a key. */
  readonly keyring: Db
  /** The keyring for what may take minutes, as `maintenance`. */
  readonly maintainedKeyring: Db
  /** Milliseconds that a method of a port may ask this server for what it needs. */
  readonly limitMs: number
  /** Whether a server that takes writes was there when the driver last looked. */
  readonly isReachable: () => boolean
  readonly close: () => Promise<void>
}

/** Database named by the path of a connection string. */
const databaseOf = (url: string): string => {
  const [, name = ''] = /^mongodb(?:\+srv)?:\/\/[^/]+\/([^?]+)/.exec(url) ?? []
  return name === '' ? DATABASE : decodeURIComponent(name)
}

/**
 * Connects to the server of a connection string; throws an Error for people when it is none or the server cannot be
 * reached, in the driver's words, which repeat no credentials (a test holds it to that), or a newer version has written it.
 * Connecting writes nothing.
 */
export const connectMongo = async (url: string, { limitMs = LIMIT_MS, prefix = null }: Options = {}): Promise<MongoConnection> => {
  const open = (requestMs: number): MongoClient => {
    try {
      return new MongoClient(url, clientOptions(requestMs))
    } catch (error) {
      throw new Error(`STENOLOG_MONGO_URL is no connection string: ${String(error)}`, { cause: error })
    }
  }
  const [client, patient] = [open(limitMs), open(PATIENT_MS)]
  const close = async (): Promise<void> => {
    await Promise.all([client.close(), patient.close()])
  }
  let reachable = false
  client.on('topologyDescriptionChanged', ({ newDescription }) => {
    reachable = [...newDescription.servers.values()].some((server) => server.isWritable)
  })
  const name = prefix === null ? databaseOf(url) : `${prefix}_${databaseOf(url)}`
  const options = databaseOptions(limitMs)
  const [readModels, keyring] = [client.db(name, options), client.db(`${name}_keyring`, options)]
  const whyNot = async (): Promise<string | null> => {
    // A client that fails to connect when it is first asked for something is of no use ever after.
    await Promise.all([client.connect(), patient.connect()])
    await readModels.command({ ping: 1 })
    return await whyNotDatabases([readModels, keyring])
  }
  let refusal: string | null
  try {
    refusal = await whyNot()
  } catch (error) {
    await close()
    throw new Error(`the MongoDB of STENOLOG_MONGO_URL cannot be used: ${String(error)}`, { cause: error })
  }
  if (refusal !== null) {
    await close()
    throw new Error(refusal)
  }
  return {
    readModels,
    maintenance: patient.db(name, databaseOptions(PATIENT_MS)),
    keyring,
    maintainedKeyring: patient.db(`${name}_keyring`, databaseOptions(PATIENT_MS)),
    limitMs,
    isReachable: () => reachable,
    close,
  }
}
