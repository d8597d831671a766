import { request as requestPlain, type IncomingMessage } from 'node:http'
import { request as requestSecure } from 'node:https'
import { checkServerIdentity, type PeerCertificate } from 'node:tls'
import type { Address } from '../connection.ts'
import { startAlarm } from '../patience.ts'

/** What a node says about itself, and whom it knows. What it says about the others is hearsay, and is not read. */
export interface Gossip {
  /** The epoch in which it leads, null while it does not. */
  readonly leadsIn: number | null
  /** Nodes of the cluster; only to ask them as well. */
  readonly named: ReadonlyArray<Address>
}

/** Asks one node; null without an answer that can be read. Never rejects. */
export type AskNode = (address: Address) => Promise<Gossip | null>

/** Certificates of the connection, as Buffers; null for a server without TLS. */
export type Certificates = { readonly ca?: Buffer; readonly cert?: Buffer; readonly key?: Buffer } | null

/** An answer for a large cluster has some kilobytes. */
const MAX_BYTES = 1024 * 1024

interface Member {
  readonly state?: unknown
  readonly httpEndPointIp?: unknown
  readonly httpEndPointPort?: unknown
  readonly epochNumber?: unknown
  readonly isReadOnlyReplica?: unknown
}

const addressOf = (host: unknown, port: unknown): Address | null =>
  typeof host === 'string' && host !== '' && typeof port === 'number' && port > 0 && port < 65_536 ? { host, port } : null

/** The answer of a server 20 or later, at the path /gossip; throws on what is none. */
export const readGossip = (text: string): Gossip => {
  const { members, serverIp, serverPort } = JSON.parse(text) as Record<string, unknown>
  if (!Array.isArray(members)) throw new TypeError('an answer without members')
  const known = members as ReadonlyArray<Member>
  const own = known.find(({ httpEndPointIp, httpEndPointPort }) => httpEndPointIp === serverIp && httpEndPointPort === serverPort)
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
 * Asks over HTTP: the client's own question, over gRPC, is not answered with the epoch. Without an account, as the client
 * does: a node that names another must not learn it.
 */
export const askOver = (certificates: Certificates, limitMs: number): AskNode => async ({ host, port, alias }) => {
  const target = { host, port, path: '/gossip', headers: { accept: 'application/json' }, agent: false }
  const names = alias === undefined ? [host] : [host, alias]
  /** A node found by its number may have a certificate for the name that led to it. */
  const identity = (_: string, certificate: PeerCertificate): Error | undefined => {
    const errors = names.map((name) => checkServerIdentity(name, certificate))
    return errors.every((error) => error !== undefined) ? errors[0] : undefined
  }
  const request = certificates === null ? requestPlain(target) : requestSecure({ ...target, ...certificates, checkServerIdentity: identity })
  const alarm = startAlarm(limitMs, () => request.destroy(new Error('no answer')))
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.on('response', resolve).on('error', reject).end()
    })
    return readGossip(await bodyOf(response))
  } catch {
    return null
  } finally {
    alarm.stop()
    request.destroy()
  }
}
