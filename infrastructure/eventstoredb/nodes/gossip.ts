import { request as requestPlain, type IncomingMessage } from 'node:http'
import { request as requestSecure } from 'node:https'
import { checkServerIdentity, type PeerCertificate } from 'node:tls'
import type { Address } from '../connection.ts'
import { startTimeout } from '../call-timeouts.ts'

/**
 * A node's report about itself, and the addresses of the other nodes. Its report about the other nodes may be outdated,
 * so it is ignored.
 */
export interface Gossip {
  /** The epoch (number of an election) in which the node leads; null: it does not lead. */
  readonly leadsIn: number | null
  /** Addresses of the nodes of the cluster. Each node must be queried itself. */
  readonly named: ReadonlyArray<Address>
}

/** Queries one node. Null: no valid answer. Never rejects. */
export type QueryNode = (address: Address) => Promise<Gossip | null>

/** Certificates of the connection; null: a server without TLS. */
export type Certificates = { readonly ca?: Buffer; readonly cert?: Buffer; readonly key?: Buffer } | null

/** Answers of large clusters have a few kilobytes. */
const MAX_BYTES = 1024 * 1024

interface Member {
  readonly state?: unknown
  readonly httpEndPointIp?: unknown
  readonly httpEndPointPort?: unknown
  readonly epochNumber?: unknown
  readonly isReadOnlyReplica?: unknown
}

const addressOf = (host: unknown, port: unknown): Address | null =>
  typeof host === 'string' && host !== '' && typeof port === 'number' && port > 0 && port < 65_536
    ? { host, port }
    : null

/** Parses the answer of the path /gossip of server 20 or later. Throws on another answer. */
export const readGossip = (text: string): Gossip => {
  const { members, serverIp, serverPort } = JSON.parse(text) as Record<string, unknown>
  if (!Array.isArray(members)) throw new TypeError('an answer without members')
  const known = members as ReadonlyArray<Member>
  const own = known.find(({ httpEndPointIp, httpEndPointPort }) =>
    httpEndPointIp === serverIp && httpEndPointPort === serverPort)
  const leads = own?.state === 'Leader' && own.isReadOnlyReplica !== true
  return {
    leadsIn: leads ? Number(own.epochNumber ?? -1) : null,
    named: known.flatMap(({ httpEndPointIp, httpEndPointPort }) => addressOf(httpEndPointIp, httpEndPointPort) ?? []),
  }
}

const bodyOf = async (response: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > MAX_BYTES) throw new TypeError('an answer that is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/**
 * Creates a function that queries a node over HTTP, because the gRPC answer does not contain the epoch. The request has
 * no credentials, so a false node that another node named cannot learn them.
 */
export const createQueryNode = (
  certificates: Certificates,
  limitMs: number,
): QueryNode => async ({ host, port, alias }) => {
  const target = { host, port, path: '/gossip', headers: { accept: 'application/json' }, agent: false }
  const names = alias === undefined ? [host] : [host, alias]
  /** A node that was found by its IP address may have a certificate for the DNS name. */
  const identity = (_: string, certificate: PeerCertificate): Error | undefined => {
    const errors = names.map((name) => checkServerIdentity(name, certificate))
    return errors.every((error) => error !== undefined) ? errors[0] : undefined
  }
  const request = certificates === null
    ? requestPlain(target)
    : requestSecure({ ...target, ...certificates, checkServerIdentity: identity })
  const timeout = startTimeout(limitMs, () => request.destroy(new Error('no answer')))
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.on('response', resolve).on('error', reject).end()
    })
    return readGossip(await bodyOf(response))
  } catch {
    return null
  } finally {
    timeout.stop()
    request.destroy()
  }
}
