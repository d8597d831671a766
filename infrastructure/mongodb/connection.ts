import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { MongoClient, MongoInvalidArgumentError, MongoServerError } from 'mongodb'
import type { Db, MongoClientOptions } from 'mongodb'
import { markDatabases, whyNotDatabases } from './marks.ts'

/**
 * Limit of what a port's method asks of the server: where that is away, frozen or too slow, the method fails in this time
 * and its caller can answer within 2 s. The driver knows no such limit (its `timeoutMS` has no effect in 7.9): what it has
 * been asked for goes on behind our back, and each adapter bears that a write which failed was made all the same.
 */
const LIMIT_MS = 1500
/** How long the start waits for a server. */
const START_MS = 3000
/** How often the driver looks whether the server is there, and how long it waits for the answer. */
const LOOK_MS = 1000

/** Database of a URL that names none. */
const DATABASE = 'stenolog'

/**
 * What the correctness of the adapters asks for; hosts, TLS, credentials and the rest come from the URL.
 * - Acknowledged means durable: projections and keys are never written twice. On a standalone server, where every write
 *   is a majority's, that takes the journal.
 * - Projections fold what they read and keys are decisions, so nothing is read from a secondary that may lag behind.
 * - Polling notices within 2 s that a server is frozen, not only that it is gone, and cuts off the requests that wait for
 *   it; the driver's own stream of hellos takes 10 s longer.
 * - Few connections: requests are short, and a rush of a hundred new ones costs more than waiting for one of these.
 */
const OPTIONS: MongoClientOptions = {
  appName: 'stenolog',
  serverSelectionTimeoutMS: START_MS,
  connectTimeoutMS: LOOK_MS,
  heartbeatFrequencyMS: LOOK_MS,
  serverMonitoringMode: 'poll',
  maxPoolSize: 16,
  writeConcern: { w: 'majority', journal: true },
  readPreference: 'primary',
  retryReads: true,
  retryWrites: true,
}

interface Options {
  /** Of the connection that it makes. */
  readonly limitMs?: number
  /** Writes into the databases which format they have, as who writes to them must; without this, connecting writes nothing. */
  readonly marks?: boolean
}

/** The one client of this process. */
export interface MongoConnection {
  readonly readModels: Db
  /** Beside the read models, in a database of its own: emptying those must not lose a key. */
  readonly keyring: Db
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
 * Error codes of requests that the server will never take: mistakes of ours, not of its state.
 * https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml
 */
const DEFECTS: ReadonlySet<unknown> = new Set([
  2, // BadValue
  9, // FailedToParse
  14, // TypeMismatch
  40, // ConflictingUpdateOperators
  52, // DollarPrefixedFieldName
  59, // CommandNotFound
  66, // ImmutableField
  72, // InvalidOptions
  73, // InvalidNamespace
  40415, // an unknown field
])

const isDefect = (error: unknown): boolean =>
  error instanceof MongoInvalidArgumentError || (error instanceof MongoServerError && DEFECTS.has(error.code))

const TOO_LATE = Symbol('the limit is reached')

/** Settles with `work`, or with TOO_LATE at the limit. */
const within = async <A>(limitMs: number, work: Promise<A>): Promise<A | typeof TOO_LATE> => {
  const limit = Promise.withResolvers<typeof TOO_LATE>()
  const timer = setTimeout(() => limit.resolve(TOO_LATE), limitMs)
  try {
    return await Promise.race([work, limit.promise])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * The outcome of requests to the server. Left: why they failed, or may have. By cause, not by class: an operation that
 * was in flight when the server died can end in a plain Error of the socket. Rejects on mistakes of ours alone.
 */
export const outcomeOf = async <A>(limitMs: number, requests: () => Promise<A>): Promise<Either<string, A>> => {
  try {
    const outcome = await within(limitMs, requests())
    return outcome === TOO_LATE ? E.left(`no answer from MongoDB within ${limitMs} ms`) : E.right(outcome)
  } catch (error) {
    if (isDefect(error)) throw error
    return E.left(error instanceof Error ? error.message : String(error))
  }
}

/**
 * Connects to the server of a connection string; throws an Error for people when it is none or the server cannot be
 * reached, in the driver's words, which repeat no credentials (a test holds it to that), or a newer version has written it.
 */
export const connectMongo = async (url: string, { limitMs = LIMIT_MS, marks = false }: Options = {}): Promise<MongoConnection> => {
  const open = (): MongoClient => {
    try {
      return new MongoClient(url, OPTIONS)
    } catch (error) {
      throw new Error(`STENOLOG_MONGO_URL is no connection string: ${String(error)}`, { cause: error })
    }
  }
  const client = open()
  let reachable = false
  client.on('topologyDescriptionChanged', ({ newDescription }) => {
    reachable = [...newDescription.servers.values()].some((server) => server.isWritable)
  })
  const name = databaseOf(url)
  const [readModels, keyring] = [client.db(name), client.db(`${name}_keyring`)]
  const whyNot = async (): Promise<string | null> => {
    await client.connect()
    await readModels.command({ ping: 1 })
    const reason = await whyNotDatabases([readModels, keyring])
    if (reason === null && marks) await markDatabases([readModels, keyring])
    return reason
  }
  let refusal: string | null
  try {
    refusal = await whyNot()
  } catch (error) {
    await client.close()
    throw new Error(`the MongoDB of STENOLOG_MONGO_URL cannot be used: ${String(error)}`, { cause: error })
  }
  if (refusal !== null) {
    await client.close()
    throw new Error(refusal)
  }
  return {
    readModels,
    keyring,
    limitMs,
    isReachable: () => reachable,
    close: () => client.close(),
  }
}
