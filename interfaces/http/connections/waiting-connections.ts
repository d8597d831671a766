import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { clientAddress } from '../clients/client-address.ts'
import type { Exchanges } from './exchanges.ts'
import { createArrivalReader, createTrust } from '../clients/forwarded.ts'
import { rawResponse } from './raw-response.ts'

/** Limits for the connections of one client. */
export interface WaitingLimits {
  /** Connections whose client has not finished sending a request. */
  readonly maxSending: number
  /** Connections whose client does not read its response. The operating system buffers some MiB for each. */
  readonly maxReading: number
  /** All connections, except WebSockets. */
  readonly maxOpen: number
  /** Interval of the regular check. A new connection has one to two intervals to send its first bytes. */
  readonly checkEveryMs: number
}

/**
 * Connections of one address, without WebSockets. After a restart all listeners of a lecture hall reconnect at once:
 * handshake-limits.ts allows 2,000 handshakes, so this limit is higher.
 */
const MAX_OPEN = 2500

export const WAITING_LIMITS: WaitingLimits = { maxSending: 200, maxReading: 32, maxOpen: MAX_OPEN, checkEveryMs: 1000 }

export const NO_WAITING_LIMITS: WaitingLimits =
  { maxSending: Infinity, maxReading: Infinity, maxOpen: Infinity, checkEveryMs: 1000 }

/** The connection waits until this client has sent its request, or has read its response. */
interface Wait {
  readonly client: string
  readonly kind: 'sending' | 'reading'
}

interface Connection {
  readonly socket: Socket
  /** Address of the client. Null for a trusted proxy: then each request names its client. */
  readonly peer: string | null
  /** Bytes read when the newest request was complete. Further bytes begin the next request. */
  bytesAtRequestEnd: number
  /** Number of regular checks so far. */
  checks: number
  wait: Wait | null
}

/** True when the first request may still be on its way. */
const isNew = ({ checks, socket }: Connection): boolean => checks < 2 && socket.bytesRead === 0

const tooManyRequests = (): string => rawResponse(429, 'Too many requests', { 'Retry-After': '15' })

/** Creates a map of sets. A set keeps its members in the order of `add`, and empty sets are removed. */
const createGroups = <A>() => {
  const groups = new Map<string, Set<A>>()
  return {
    of: (key: string): ReadonlySet<A> => groups.get(key) ?? new Set(),
    add: (key: string, member: A): void => void groups.set(key, (groups.get(key) ?? new Set()).add(member)),
    remove: (key: string, member: A): void => {
      const group = groups.get(key)
      if (group?.delete(member) === true && group.size === 0) groups.delete(key)
    },
  }
}

/**
 * Limits the connections that one client keeps open. Above the limit it cuts the connection that has waited longest, so
 * health checks and other quick requests always get through. Clients behind a trusted proxy count separately.
 */
export const limitWaitingConnections = (
  server: Server,
  exchanges: Exchanges,
  trustedProxies: ReadonlyArray<string>,
  limits: WaitingLimits,
): void => {
  const arrivalOf = createArrivalReader(trustedProxies)
  const isTrusted = createTrust(trustedProxies)
  const connections = new Map<Socket, Connection>()
  const byPeer = createGroups<Connection>()
  const waiting = { sending: createGroups<Connection>(), reading: createGroups<Connection>() }
  const max = { sending: limits.maxSending, reading: limits.maxReading }

  /** Returns what the connection waits for. Null when it does not wait for its client. */
  const waitOf = (connection: Connection): Wait | null => {
    const { socket, peer, bytesAtRequestEnd } = connection
    const latest = exchanges.latest(socket)
    const client = peer ?? (latest === undefined ? null : clientAddress(arrivalOf(latest.request).address))
    if (client === null) return null
    if (socket.writableLength > 0) return { client, kind: 'reading' }
    const isSending = latest === undefined ? !isNew(connection) : !latest.request.complete
    const isSendingNext = peer !== null && !exchanges.isBusy(socket) && socket.bytesRead !== bytesAtRequestEnd
    return isSending || isSendingNext ? { client, kind: 'sending' } : null
  }

  const cut = ({ socket }: Connection): void => {
    if (socket.writableLength > 0) socket.resetAndDestroy()
    else exchanges.endWith(socket, tooManyRequests())
  }

  const release = (connection: Connection): void => {
    const { wait, socket } = connection
    if (wait === null) return
    waiting[wait.kind].remove(wait.client, connection)
    connection.wait = null
    if (wait.kind === 'reading') socket.resume()
  }

  const forget = (connection: Connection): void => {
    release(connection)
    connections.delete(connection.socket)
    if (connection.peer !== null) byPeer.remove(connection.peer, connection)
  }

  const check = (connection: Connection): void => {
    const wait = waitOf(connection)
    if (connection.wait?.client === wait?.client && connection.wait?.kind === wait?.kind) return
    release(connection)
    if (wait === null) return
    connection.wait = wait
    const { client, kind } = wait
    // Received bytes would restart the socket timeout, so a client could stay connected without reading.
    if (kind === 'reading') connection.socket.pause()
    waiting[kind].add(client, connection)
    const [longest] = waiting[kind].of(client)
    if (longest === undefined || waiting[kind].of(client).size <= max[kind]) return
    forget(longest)
    cut(longest)
  }

  /** Closes one connection of a peer that has too many. Connections with a request in progress stay open. */
  const makeRoom = (peer: string): void => {
    if (byPeer.of(peer).size <= limits.maxOpen) return
    const open = [...byPeer.of(peer)]
    const idle = open.find((connection) =>
      connection.wait === null && !isNew(connection) && !exchanges.isBusy(connection.socket))
    const chosen = idle ?? open.find((connection) => connection.wait !== null || isNew(connection))
    if (chosen === undefined) return
    forget(chosen)
    // An idle connection closes without a response, which the client would take for the response to its next request.
    if (chosen === idle) chosen.socket.destroy()
    else cut(chosen)
  }

  server.on('connection', (socket: Socket) => {
    const address = arrivalOf({ headers: {}, socket }).address
    const peer = isTrusted(address) ? null : clientAddress(address)
    const connection: Connection = { socket, peer, bytesAtRequestEnd: 0, checks: 0, wait: null }
    connections.set(socket, connection)
    if (peer !== null) byPeer.add(peer, connection)
    socket.once('close', () => forget(connection))
    if (peer !== null) makeRoom(peer)
  })
  server.on('request', (request, response) => {
    const { socket } = request
    const connection = connections.get(socket)
    if (connection === undefined) return
    const checkAgain = (): void => {
      if (connections.has(socket)) check(connection)
    }
    let isComplete = false
    const onBytesRead = (): void => {
      if (!isComplete && request.complete) connection.bytesAtRequestEnd = socket.bytesRead
      isComplete ||= request.complete
      checkAgain()
    }
    // `request.complete` is up to date only after Node has parsed the received bytes.
    process.nextTick(onBytesRead)
    request.once('end', onBytesRead)
    response.once('close', checkAgain)
  })
  // A complete handshake belongs to the WebSocket server, which has limits of its own.
  server.on('upgrade', ({ socket }: IncomingMessage) => {
    const connection = connections.get(socket)
    if (connection !== undefined) forget(connection)
  })

  const interval = setInterval(() => {
    for (const connection of connections.values()) {
      connection.checks += 1
      check(connection)
    }
  }, limits.checkEveryMs).unref()
  server.once('close', () => clearInterval(interval))
}
