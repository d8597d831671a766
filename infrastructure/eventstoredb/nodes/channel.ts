import { readFile } from 'node:fs/promises'
import { EventStoreDBClient, NotLeaderError, type StreamingRead } from '@eventstore/db-client'
import type { Address, Connection } from '../connection.ts'
import type { Certificates } from './gossip.ts'
import { reasonOf } from '../failures.ts'
import { startAlarm, TimedOut } from '../patience.ts'

const ignore = (): void => undefined

/** The client's own: less makes it complain on standard error. */
const KEEP_ALIVE_MS = 10_000
/** Longer than any call may take. */
const LAST_CALLS_MS = 5000

/** What a node says when it is asked for the end of its log as the leader. */
export type Look =
  | { readonly kind: 'leads' }
  | { readonly kind: 'silent'; readonly reason: string }
  /** `leader` where it named another. */
  | { readonly kind: 'refuses'; readonly reason: string; readonly leader: Address | null }

/** A connection to one node. */
export interface Channel {
  readonly client: EventStoreDBClient
  /** Never rejects. */
  readonly look: (limitMs: number) => Promise<Look>
  /** For a channel that gets no further calls: those that run still get their answers. */
  readonly retire: () => void
}

/**
 * All that a read delivers, until `lost`. Reads ignore the client's deadline, so a silence as long as the limit ends it, and leaving
 * the loop does not end the call on the server, so it is cancelled. An error that comes later finds a listener: without
 * one it would end the process.
 */
export const collect = async <A>(
  reading: StreamingRead<A>, limit: number, lost?: AbortSignal,
): Promise<ReadonlyArray<A>> => {
  const items: A[] = []
  reading.on('error', ignore)
  const leave = (): void => void reading.destroy(new Error('its node leads no longer'))
  if (lost?.aborted === true) leave()
  lost?.addEventListener('abort', leave)
  const alarm = startAlarm(limit, () => reading.destroy(new TimedOut(limit)))
  try {
    // The stream carries nothing else.
    for await (const item of reading as AsyncIterable<A>) {
      items.push(item)
      alarm.restart()
    }
    return items
  } finally {
    alarm.stop()
    lost?.removeEventListener('abort', leave)
    if (!reading.readableEnded) reading.cancel().catch(ignore)
  }
}

/** Throws an Error for people where a file cannot be read; it never repeats the connection string. */
export const loadCertificates = async ({ tls }: Connection): Promise<Certificates> => {
  if (tls === null) return null
  const loaded: { ca?: Buffer; cert?: Buffer; key?: Buffer } = {}
  for (const name of ['ca', 'cert', 'key'] as const) {
    const path = tls[name]
    if (path === undefined) continue
    try {
      loaded[name] = await readFile(path)
    } catch (error) {
      throw new Error(`its certificate file ${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? reasonOf(error)})`, { cause: error })
    }
  }
  return loaded
}

/** A client whose connection can be closed, which it does not offer. */
class OneNodeClient extends EventStoreDBClient {
  readonly closeConnection = async (): Promise<void> => (await this.getChannel()).close()
}

/** Opens channels to nodes; a new one to the same node has a connection of its own. */
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
    // gRPC gives channels whose options are alike one connection between them, and a new one is wanted because that one
    // does not answer any more.
    const keepAliveInterval = (keepAlive.keepAliveInterval ?? KEEP_ALIVE_MS) + (keepAlive.keepAliveInterval === -1 ? 0 : opened++ % 1000)
    const settings = { ...keepAlive, keepAliveInterval, ...(connectionName === undefined ? {} : { connectionName }) }
    const client = new OneNodeClient({ endpoint: { address: host, port }, ...settings }, tls, credentials)
    return {
      client,
      look: async (limitMs) => {
        try {
          const end = { direction: 'backwards', fromPosition: 'end', maxCount: 1, requiresLeader: true } as const
          await collect(client.readAll(end), limitMs)
          return { kind: 'leads' }
        } catch (error) {
          const reason = reasonOf(error)
          if (error instanceof TimedOut) return { kind: 'silent', reason }
          const leader = error instanceof NotLeaderError ? { host: error.leader.address, port: error.leader.port } : null
          return { kind: 'refuses', reason, leader }
        }
      },
      retire: () => {
        // Not by the client's `dispose`: a read that it cuts off looks like one that is complete.
        setTimeout(() => {
          client.closeConnection().catch(ignore)
        }, LAST_CALLS_MS).unref()
      },
    }
  }
}
