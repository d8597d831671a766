import { readFile } from 'node:fs/promises'
import { EventStoreDBClient, NotLeaderError, type StreamingRead } from '@eventstore/db-client'
import type { Address, Connection } from '../connection.ts'
import type { Certificates } from './gossip.ts'
import { reasonOf } from '../failures.ts'
import { startTimeout, TimedOut } from '../call-timeouts.ts'

const ignore = (): void => undefined

/** Milliseconds between pings: the default of the client, which prints a warning for smaller values. */
const KEEP_ALIVE_MS = 10_000
/** Time for the running calls of a retired channel. It is longer than any call takes. */
const LAST_CALLS_MS = 5000

/** The result of reading the end of the log from a node as the leader. */
export type Probe =
  | { readonly kind: 'leads' }
  | { readonly kind: 'silent'; readonly reason: string }
  /** `leader`: the node that it named instead, if any. */
  | { readonly kind: 'refuses'; readonly reason: string; readonly leader: Address | null }

/** A connection to one node. */
export interface Channel {
  readonly client: EventStoreDBClient
  /** Checks whether the node leads. Never rejects. */
  readonly probe: (limitMs: number) => Promise<Probe>
  /** Closes the channel after its running calls have ended. The channel must get no new calls. */
  readonly retire: () => void
}

/**
 * Collects the results of a read. Fails when `lost` aborts, or when nothing arrives for `limitMs`: the client ignores
 * the deadline of a read. At the end it cancels the call, because the server would otherwise continue. The listener for
 * errors stays, because a late error without a listener would end the process.
 */
export const collect = async <A>(
  reading: StreamingRead<A>, limitMs: number, lost?: AbortSignal,
): Promise<ReadonlyArray<A>> => {
  const items: A[] = []
  reading.on('error', ignore)
  const stop = (): void => void reading.destroy(new Error('the node is no longer the leader'))
  if (lost?.aborted === true) stop()
  lost?.addEventListener('abort', stop)
  const timeout = startTimeout(limitMs, () => reading.destroy(new TimedOut(limitMs)))
  try {
    for await (const item of reading as AsyncIterable<A>) {
      items.push(item)
      timeout.restart()
    }
    return items
  } finally {
    timeout.stop()
    lost?.removeEventListener('abort', stop)
    if (!reading.readableEnded) reading.cancel().catch(ignore)
  }
}

/** Reads the certificate files. Throws an Error for users that does not contain the connection string. */
export const loadCertificates = async ({ tls }: Connection): Promise<Certificates> => {
  if (tls === null) return null
  const loaded: { ca?: Buffer; cert?: Buffer; key?: Buffer } = {}
  for (const name of ['ca', 'cert', 'key'] as const) {
    const path = tls[name]
    if (path === undefined) continue
    try {
      loaded[name] = await readFile(path)
    } catch (error) {
      const reason = (error as NodeJS.ErrnoException).code ?? reasonOf(error)
      throw new Error(`the certificate file ${path} cannot be read (${reason})`, { cause: error })
    }
  }
  return loaded
}

/** Adds a way to close the connection, which the client lacks. */
class OneNodeClient extends EventStoreDBClient {
  readonly closeConnection = async (): Promise<void> => (await this.getChannel()).close()
}

/** Returns a function that opens channels to nodes. Every channel has its own connection, also to the same node. */
export const channelsOver = (connection: Connection, certificates: Certificates): ((address: Address) => Channel) => {
  const { credentials, keepAlive, connectionName } = connection
  const tls = certificates === null
    ? { insecure: true }
    : {
        ...(certificates.ca === undefined ? {} : { rootCertificate: certificates.ca }),
        ...(certificates.cert === undefined ? {} : { userCertFile: certificates.cert }),
        ...(certificates.key === undefined ? {} : { userKeyFile: certificates.key }),
      }
  let opened = 0

  return ({ host, port }) => {
    // gRPC shares one connection between channels with equal options. A different interval forces a new connection,
    // because the old one may not answer any more.
    const offset = keepAlive.keepAliveInterval === -1 ? 0 : opened++ % 1000
    const keepAliveInterval = (keepAlive.keepAliveInterval ?? KEEP_ALIVE_MS) + offset
    const settings = { ...keepAlive, keepAliveInterval, ...(connectionName === undefined ? {} : { connectionName }) }
    const client = new OneNodeClient({ endpoint: { address: host, port }, ...settings }, tls, credentials)
    return {
      client,
      probe: async (limitMs) => {
        try {
          const lastEvent = { direction: 'backwards', fromPosition: 'end', maxCount: 1, requiresLeader: true } as const
          await collect(client.readAll(lastEvent), limitMs)
          return { kind: 'leads' }
        } catch (error) {
          const reason = reasonOf(error)
          if (error instanceof TimedOut) return { kind: 'silent', reason }
          if (!(error instanceof NotLeaderError)) return { kind: 'refuses', reason, leader: null }
          return { kind: 'refuses', reason, leader: { host: error.leader.address, port: error.leader.port } }
        }
      },
      retire: () => {
        // Does not use `dispose` of the client: a read that it interrupts looks complete.
        setTimeout(() => {
          client.closeConnection().catch(ignore)
        }, LAST_CALLS_MS).unref()
      },
    }
  }
}
