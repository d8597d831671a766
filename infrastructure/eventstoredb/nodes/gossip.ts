import { request as requestPlain, type IncomingMessage } from 'node:http'
import { request as requestSecure } from 'node:https'
import { checkServerIdentity, type PeerCertificate } from 'node:tls'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Address, Connection } from '../connection.ts'
import { startTimeout } from '../call-timeouts.ts'
import { reasonOf } from '../failures.ts'

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

/** Queries one node. Left: why there is no valid answer, for operators. Never rejects. */
export type QueryNode = (address: Address) => Promise<Either<string, Gossip>>

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

/** A failed request, also of TLS, whose `message` quotes memory addresses. Its `reason` is short and stays the same. */
interface RequestError extends Error {
  readonly code?: string
  readonly reason?: string
}

const problemOf = (error: RequestError, isSecure: boolean): string => {
  const { code = '', reason } = error
  if (isSecure && (code === 'EPROTO' || code.startsWith('ERR_SSL_')))
    return `${reason ?? code}: if the node has no TLS, add tls=false`
  // Node adds advice about its own options after a semicolon.
  const [problem = ''] = (error.message === '' && code !== '' ? code : reasonOf(error)).split(';', 1)
  const mayHaveTls = !isSecure && (code === 'ECONNRESET' || code.startsWith('HPE_'))
  return mayHaveTls ? `${problem}: if the node has TLS, remove tls=false` : problem
}

/** Sends a request to a node and reads the answer. Left: why this failed, for operators. Never rejects. */
type AskNode = <A>(
  address: Address, read: (response: IncomingMessage) => Promise<Either<string, A>> | Either<string, A>,
) => Promise<Either<string, A>>

/**
 * Creates a function that sends a node the request for its gossip over HTTP. The server may want an account, which is
 * sent only over TLS: a false node that another node named has no trusted certificate.
 */
const createAskNode = (
  certificates: Certificates,
  { username, password }: Connection['credentials'],
  limitMs: number,
): AskNode => async ({ host, port, alias }, read) => {
  const target = { host, port, path: '/gossip', headers: { accept: 'application/json' }, agent: false }
  const names = alias === undefined ? [host] : [host, alias]
  /** A node that was found by its IP address may have a certificate for the DNS name. */
  const identity = (_: string, certificate: PeerCertificate): Error | undefined => {
    const errors = names.map((name) => checkServerIdentity(name, certificate))
    return errors.every((error) => error !== undefined) ? errors[0] : undefined
  }
  const request = certificates === null
    ? requestPlain(target)
    : requestSecure({
        ...target, ...certificates, auth: `${username}:${password}`, checkServerIdentity: identity,
      })
  const timeout = startTimeout(limitMs, () => request.destroy(new Error('no answer')))
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.on('response', resolve).on('error', reject).end()
    })
    return await read(response)
  } catch (error) {
    return E.left(problemOf(error as RequestError, certificates !== null))
  } finally {
    timeout.stop()
    request.destroy()
  }
}

type Asking = Parameters<typeof createAskNode>

/** Creates a function that queries a node over HTTP, because the gRPC answer does not contain the epoch. */
export const createQueryNode = (...asking: Asking): QueryNode => {
  const ask = createAskNode(...asking)
  return (address) =>
    ask(address, async (response) => {
      if (response.statusCode !== 200) return E.left(`HTTP ${response.statusCode}`)
      return E.right(readGossip(await bodyOf(response)))
    })
}

/** Asks a node for its time: milliseconds since 1970, in whole seconds. Null: no answer. Never rejects. */
export type AskTime = (address: Address) => Promise<number | null>

/** Creates a function that reads the time off the header `date`, which every answer has, also a refusal. */
export const createAskTime = (...asking: Asking): AskTime => {
  const ask = createAskNode(...asking)
  return async (address) => {
    const time = await ask(address, ({ headers }) => E.right(Date.parse(headers.date ?? '')))
    return E.isLeft(time) || Number.isNaN(time.right) ? null : time.right
  }
}
