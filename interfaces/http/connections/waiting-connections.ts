import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { clientAddress } from '../clients/client-address.ts'
import type { Exchanges } from './exchanges.ts'
import { createArrivals, createTrust } from '../clients/forwarded.ts'
import { rawAnswer } from './raw-answer.ts'

export interface WaitingLimits {
  /** Connections of one client that wait for it to say something or to end a request. */
  readonly mostAsking: number
  /** Those that wait for it to take an answer, of which the system holds some MiB by then. */
  readonly mostTaking: number
  /** Connections of one client, whatever they do; sockets do not count. */
  readonly mostOpen: number
  /** Milliseconds between looks at what no event tells; a new connection has one to two of them for its first bytes. */
  readonly lookEvery: number
}

/** All listeners of a lecture hall come back at once after a restart: 2,000 may shake hands (handshake-limits.ts). */
const MOST_OPEN = 2500

export const WAITING_LIMITS: WaitingLimits = { mostAsking: 200, mostTaking: 32, mostOpen: MOST_OPEN, lookEvery: 1000 }

export const NO_WAITING_LIMITS: WaitingLimits =
  { mostAsking: Infinity, mostTaking: Infinity, mostOpen: Infinity, lookEvery: 1000 }

/** What a connection waits for a client to do. */
interface Wait {
  readonly client: string
  readonly kind: 'asking' | 'taking'
}

interface Connection {
  readonly socket: Socket
  /** Null behind a trusted proxy: then each request says for whom it is. */
  readonly peer: string | null
  /** Bytes read when the newest request was whole; more are the beginning of the next one. */
  heard: number
  /** Regular looks at it so far. */
  looks: number
  wait: Wait | null
}

/** It was opened just now: its first request may be on its way. */
const isNew = ({ looks, socket }: Connection): boolean => looks < 2 && socket.bytesRead === 0

const tooMany = (): string => rawAnswer(429, 'Too many requests', { 'Retry-After': '15' })

/** Sets by key; empty ones are forgotten. The order in a set is that of `add`. */
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
 * Bounds what one client makes the service keep open. Beyond the most that may wait for it the one that has waited
 * longest is cut off: those who say what they want at once, probes among them, always get in. Clients are told apart as
 * everywhere, so those behind a proxy of TRUSTED_PROXIES count by themselves and the proxy does not.
 */
export const limitWaitingConnections = (
  server: Server,
  exchanges: Exchanges,
  trustedProxies: ReadonlyArray<string>,
  limits: WaitingLimits,
): void => {
  const arrivalOf = createArrivals(trustedProxies)
  const isTrusted = createTrust(trustedProxies)
  const connections = new Map<Socket, Connection>()
  const byPeer = createGroups<Connection>()
  const waiting = { asking: createGroups<Connection>(), taking: createGroups<Connection>() }
  const most = { asking: limits.mostAsking, taking: limits.mostTaking }

  /** What the connection waits for, null for nothing. */
  const waitOf = (connection: Connection): Wait | null => {
    const { socket, peer, heard } = connection
    const latest = exchanges.latest(socket)
    const client = peer ?? (latest === undefined ? null : clientAddress(arrivalOf(latest.request).address))
    if (client === null) return null
    if (socket.writableLength > 0) return { client, kind: 'taking' }
    const hasBegun = latest === undefined ? !isNew(connection) : !latest.request.complete
    const hasBegunAnother = peer !== null && !exchanges.isBusy(socket) && socket.bytesRead !== heard
    return hasBegun || hasBegunAnother ? { client, kind: 'asking' } : null
  }

  const cut = ({ socket }: Connection): void => {
    if (socket.writableLength > 0) socket.resetAndDestroy()
    else exchanges.endWith(socket, tooMany())
  }

  const release = (connection: Connection): void => {
    const { wait, socket } = connection
    if (wait === null) return
    waiting[wait.kind].remove(wait.client, connection)
    connection.wait = null
    if (wait.kind === 'taking') socket.resume()
  }

  const forget = (connection: Connection): void => {
    release(connection)
    connections.delete(connection.socket)
    if (connection.peer !== null) byPeer.remove(connection.peer, connection)
  }

  const look = (connection: Connection): void => {
    const wait = waitOf(connection)
    if (connection.wait?.client === wait?.client && connection.wait?.kind === wait?.kind) return
    release(connection)
    if (wait === null) return
    connection.wait = wait
    const { client, kind } = wait
    // Nothing more is heard from whoever does not take what was asked for: else each byte would set the clock back.
    if (kind === 'taking') connection.socket.pause()
    waiting[kind].add(client, connection)
    const [longest] = waiting[kind].of(client)
    if (longest === undefined || waiting[kind].of(client).size <= most[kind]) return
    forget(longest)
    cut(longest)
  }

  /** Where the peer has too many, gives up one that nobody is being answered on. */
  const makeRoom = (peer: string): void => {
    if (byPeer.of(peer).size <= limits.mostOpen) return
    const open = [...byPeer.of(peer)]
    const idle = open.find((one) => one.wait === null && !isNew(one) && !exchanges.isBusy(one.socket))
    const given = idle ?? open.find((one) => one.wait !== null || isNew(one))
    if (given === undefined) return
    forget(given)
    // A client that sees an idle connection close asks again on another one; an answer it would take for its next.
    if (given === idle) given.socket.destroy()
    else cut(given)
  }

  server.on('connection', (socket: Socket) => {
    const address = arrivalOf({ headers: {}, socket }).address
    const peer = isTrusted(address) ? null : clientAddress(address)
    const connection: Connection = { socket, peer, heard: 0, looks: 0, wait: null }
    connections.set(socket, connection)
    if (peer !== null) byPeer.add(peer, connection)
    socket.once('close', () => forget(connection))
    if (peer !== null) makeRoom(peer)
  })
  server.on('request', (request, response) => {
    const { socket } = request
    const connection = connections.get(socket)
    if (connection === undefined) return
    const lookAgain = (): void => {
      if (connections.has(socket)) look(connection)
    }
    let isWhole = false
    const heard = (): void => {
      if (!isWhole && request.complete) connection.heard = socket.bytesRead
      isWhole ||= request.complete
      lookAgain()
    }
    // Whether there is a body to come is known once the bytes at hand have been read.
    process.nextTick(heard)
    request.once('end', heard)
    response.once('close', lookAgain)
  })
  // What becomes of a handshake is the socket server's to say; it has been sent whole.
  server.on('upgrade', ({ socket }: IncomingMessage) => {
    const connection = connections.get(socket)
    if (connection !== undefined) forget(connection)
  })

  const looking = setInterval(() => {
    for (const connection of connections.values()) {
      connection.looks += 1
      look(connection)
    }
  }, limits.lookEvery).unref()
  server.once('close', () => clearInterval(looking))
}
