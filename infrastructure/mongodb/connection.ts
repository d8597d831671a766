import { type Db, type DbOptions, MongoClient, type MongoClientOptions, ReadConcern } from 'mongodb'
import { databaseProblem } from './marks.ts'

/** Timeout of a method of a port. Its caller must answer within 2 s when the server is unavailable or frozen. */
const LIMIT_MS = 1500
/**
 * The driver's socket timeout is longer than the timeout of a request by this value. So a slow server has time to
 * refuse the request and keeps its connection. The connection to a silent server is closed and leaves the pool.
 */
const GRACE_MS = 500
/**
 * Timeout of maintenance, such as creating an index or dropping a collection. Only a projection that starts or is
 * rebuilt waits for it. It is long because a timed-out replacement of a read model could still succeed later.
 */
export const MAINTENANCE_MS = 600_000
/** Time that the start waits for a server. */
const START_MS = 3000
/** Interval and timeout of the driver's health checks. */
const HEARTBEAT_MS = 1000

/** Database for a URL without a database. */
const DATABASE = 'stenolog'

/**
 * Returns the options of the driver. Hosts, TLS, credentials and everything else come from the URL.
 * - Polling detects a frozen server within 2 s and fails its pending requests. The driver's streaming heartbeat needs
 *   10 s longer.
 * - The pool is small: requests are short, and a rush of a hundred new connections costs more than waiting for one.
 * - The socket timeout ends each request, because a server may answer only heartbeats. Otherwise sixteen unanswered
 *   requests would block the pool forever. The driver's `timeoutMS` has no effect in version 7.9.
 */
const clientOptions = (limitMs: number): MongoClientOptions => ({
  appName: 'stenolog',
  serverSelectionTimeoutMS: START_MS,
  connectTimeoutMS: HEARTBEAT_MS,
  heartbeatFrequencyMS: HEARTBEAT_MS,
  serverMonitoringMode: 'poll',
  maxPoolSize: 16,
  waitQueueTimeoutMS: limitMs,
  socketTimeoutMS: limitMs + GRACE_MS,
  retryReads: true,
  retryWrites: true,
})

/**
 * Returns the options that the correctness of the adapters requires. They are set for each database, because the URL
 * overrides options of the client.
 * - Writes: an acknowledged write must be durable, because projections and keys are not written twice. On a standalone
 *   server this requires the journal. A write that waits too long for its majority fails with an unknown outcome.
 * - Reads: projections and keys build on what they read. So they read only data that a new primary also has, and never
 *   from a lagging secondary.
 */
const databaseOptions = (limitMs: number): DbOptions => ({
  writeConcern: { w: 'majority', journal: true, wtimeoutMS: limitMs },
  readConcern: new ReadConcern('majority'),
  readPreference: 'primary',
})

interface Options {
  /** STREAM_PREFIX, the prefix of the database names. */
  readonly prefix?: string | null
  /** Timeout of a method of a port. */
  readonly limitMs?: number
}

/** The connections of this process to the server. */
export interface MongoConnection {
  readonly readModels: Db
  /** The read models over separate connections with long timeouts, for operations that may take minutes. */
  readonly maintenance: Db
  /** A separate database, so emptying the read models does not lose keys. */
  readonly keyring: Db
  /** The keyring over the connections with long timeouts. */
  readonly maintainedKeyring: Db
  /** Timeout of a method of a port, in milliseconds. */
  readonly limitMs: number
  /** Returns null if the driver's last check found a server that accepts writes. Otherwise why not, for each server. */
  readonly unreachable: () => string | null
  /** Milliseconds by which the clock of the primary is ahead of this machine's. */
  readonly clockSkewMs: () => number
  readonly close: () => Promise<void>
}

const databaseOf = (url: string): string => {
  const [, name = ''] = /^mongodb(?:\+srv)?:\/\/[^/]+\/([^?]+)/.exec(url) ?? []
  return name === '' ? DATABASE : decodeURIComponent(name)
}

/**
 * Follows by how many milliseconds the clock of the primary is ahead of this machine's. The driver's health checks
 * already contain the time of the server, so this causes no traffic. Returns 0 until the first check. The server
 * answered at some time of the check, so a slow check does not count as a difference.
 */
const followClockSkew = (client: MongoClient): (() => number) => {
  let skewMs = 0
  client.on('serverHeartbeatSucceeded', ({ reply, duration }) => {
    if (reply['isWritablePrimary'] !== true || !(reply['localTime'] instanceof Date)) return
    const ahead = reply['localTime'].getTime() - Date.now()
    skewMs = ahead > 0 ? ahead : Math.min(0, ahead + duration)
  })
  return () => skewMs
}

/**
 * Connects to the server without writing anything.
 *
 * Throws an Error with a message for users in three cases: the connection string is invalid, the server cannot be
 * reached, or a newer version has written the data. The message quotes the driver, whose messages contain no
 * credentials (a test checks this).
 */
export const connectMongo = async (
  url: string,
  { limitMs = LIMIT_MS, prefix = null }: Options = {},
): Promise<MongoConnection> => {
  const open = (requestMs: number): MongoClient => {
    try {
      return new MongoClient(url, clientOptions(requestMs))
    } catch (error) {
      throw new Error(`STENOLOG_MONGO_URL is not a valid connection string: ${String(error)}`, { cause: error })
    }
  }
  const [client, maintenanceClient] = [open(limitMs), open(MAINTENANCE_MS)]
  const close = async (): Promise<void> => {
    await Promise.all([client.close(), maintenanceClient.close()])
  }
  const clockSkewMs = followClockSkew(client)
  let unreachable: string | null = 'the first check of its servers is not finished'
  client.on('topologyDescriptionChanged', ({ newDescription }) => {
    const servers = [...newDescription.servers.values()]
    const problems = servers.map(({ address, error, type }) => `${address}: ${error?.message ?? type}`)
    unreachable = servers.some(({ isWritable }) => isWritable) ? null : problems.join('; ')
  })
  const name = prefix === null ? databaseOf(url) : `${prefix}_${databaseOf(url)}`
  const options = databaseOptions(limitMs)
  const [readModels, keyring] = [client.db(name, options), client.db(`${name}_keyring`, options)]
  const checkDatabases = async (): Promise<string | null> => {
    // Connects explicitly: a client whose implicit first connection fails never recovers.
    await Promise.all([client.connect(), maintenanceClient.connect()])
    await readModels.command({ ping: 1 })
    return await databaseProblem([readModels, keyring])
  }
  let problem: string | null
  try {
    problem = await checkDatabases()
  } catch (error) {
    await close()
    throw new Error(`cannot connect to the MongoDB of STENOLOG_MONGO_URL: ${String(error)}`, { cause: error })
  }
  if (problem !== null) {
    await close()
    throw new Error(problem)
  }
  return {
    readModels,
    maintenance: maintenanceClient.db(name, databaseOptions(MAINTENANCE_MS)),
    keyring,
    maintainedKeyring: maintenanceClient.db(`${name}_keyring`, databaseOptions(MAINTENANCE_MS)),
    limitMs,
    unreachable: () => unreachable,
    clockSkewMs,
    close,
  }
}
