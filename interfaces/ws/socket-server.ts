import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { isOpen } from '../../domain/live/state.ts'
import type { Environment, Logger } from '../../application/ports/environment.ts'
import type { SocketRole } from '../../application/ports/read-models.ts'
import type { LiveBus } from '../../application/pipeline/signals.ts'
import type { ListenerSessions } from '../../application/running/socket-sessions.ts'
import type { MissedFinals } from '../../application/running/missed-finals.ts'
import { pause } from '../../application/waiting.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { loggableUrl } from '../http/access-log.ts'
import { clientAddress } from '../http/clients/client-address.ts'
import { createArrivalReader } from '../http/clients/forwarded.ts'
import { hasBody } from '../http/connections/request-target.ts'
import { correlationIdOf, inNoRequest, type InRequest, requestIdOf } from '../http/request-id.ts'
import { findTarget, type SocketTarget } from '../http/socket-path.ts'
import { errorEnding, movedOnEndings } from './ends.ts'
import * as handshake from './handshakes/handshake.ts'
import type { HandshakeRefusal } from './handshakes/handshake.ts'
import { createHandshakeLimits } from './handshakes/handshake-limits.ts'
import { createHub } from './listeners/caption-hub.ts'
import { createSocketSlots } from './handshakes/socket-slots.ts'
import { createUpgrader, REQUEST_ID } from './handshakes/upgrader.ts'
import type { PlaceSender } from './senders/sender-placement.ts'
import { type AcceptedSocket, type OpenSocket, serveSocket } from './serve-socket.ts'

export interface SocketSettings {
  /** Origins that may connect (WS_ORIGINS). */
  readonly origins: '*' | ReadonlyArray<string>
  /** COMPAT_STRICT: if true, frames contain only the members of the interface 0.6.2. */
  readonly strict: boolean
  /** False (RATE_LIMIT=0) switches the limits on frames and on handshakes off. */
  readonly rateLimits: boolean
  /**
   * IDLE_TIMEOUT in milliseconds: an active session ends when its sender sends no frame for this time. 0 switches the
   * timeout off.
   */
  readonly idleTimeout: number
  /** CIDR ranges of the proxies whose forwarding headers count (TRUSTED_PROXIES). */
  readonly trustedProxies: ReadonlyArray<string>
  /** An address with more failed handshakes per minute gets 429. 0 switches the limits on handshakes off. */
  readonly failedHandshakesPerMinute: number
  /** Handshakes get 429 when this many sockets are open, because a process has a limited number of file descriptors. */
  readonly maxSockets: number
  /** The part of `maxSockets` that is reserved for senders. */
  readonly senderSlots: number
}

export interface SocketServerOptions {
  readonly server: Server
  /** Path prefixes, including ''. */
  readonly prefixes: ReadonlyArray<string>
  readonly sessions: ListenerSessions
  readonly placeSender: PlaceSender
  readonly bus: LiveBus
  readonly settings: SocketSettings
  readonly logger: Logger
  readonly environment: Pick<Environment, 'monotonic'>
  readonly timers: Timers
  readonly inRequest?: InRequest
  /** True while the service stops: new sockets are refused. */
  readonly draining: () => boolean
  /** True while another process accepts sockets. */
  readonly isServedElsewhere: () => boolean
}

export interface SocketServer {
  /** Refuses new sockets and closes all open ones with `server_restart` (1012). Cuts the rest after `limitMs`. */
  readonly close: (limitMs: number) => Promise<void>
  readonly counts: () => Readonly<Record<SocketRole, number>>
  readonly listenersOf: (liveId: number) => number
}

/** The session and the role of a valid token. */
type TokenTarget = Pick<AcceptedSocket, 'liveId' | 'role' | 'status'>

/** The handshake request of a socket, and the release of its slot. */
interface Entrance {
  readonly requestId: string
  readonly releaseSlot: () => void
}

/**
 * Handles the WebSocket handshakes of `server`. A wrong token gets an HTTP response. Later problems get an error frame,
 * because browsers hide the response of a handshake from pages.
 */
export const attachSocketServer = (options: SocketServerOptions): SocketServer => {
  const { server, prefixes, sessions, placeSender, settings, logger, environment, timers } = options
  const { inRequest = inNoRequest } = options
  const hub = createHub({ bus: options.bus, strict: settings.strict })
  const upgraders = { sender: createUpgrader('sender'), listener: createUpgrader('listener') }
  const limits = createHandshakeLimits(environment, settings.rateLimits ? settings.failedHandshakesPerMinute : 0)
  const slots = createSocketSlots(settings.maxSockets, settings.senderSlots)
  const arrivalOf = createArrivalReader(settings.trustedProxies)
  const sockets = new Set<OpenSocket>()
  let isClosed = false

  const admitSender = async (
    target: TokenTarget, missed: MissedFinals | null,
  ): Promise<AcceptedSocket | HandshakeRefusal> => {
    const placed = await placeSender(target.liveId)
    if (E.isRight(placed)) return { ...target, sender: placed.right, refusal: null, missed }
    switch (placed.left) {
      case 'already_connected':
        return { ...target, sender: null, refusal: 'sender_already_connected', missed: null }
      case 'over': {
        const status = target.status === 'error' ? 'error' : 'finished'
        return { ...target, status, sender: null, refusal: 'session_finished', missed }
      }
      case 'unavailable':
        return handshake.UNAVAILABLE
    }
  }

  const resolveToken = async (
    token: string, liveId: number | null, address: string,
  ): Promise<TokenTarget | HandshakeRefusal> => {
    const isId = liveId === null || (liveId > 0 && Number.isSafeInteger(liveId))
    if (!isId || !limits.mayTry(address, token)) return handshake.BAD_TOKEN
    const resolved = await sessions.resolveToken(token, liveId, () => limits.mayReadLog(address))
    if (E.isLeft(resolved)) return handshake.refusalOf(resolved.left)
    // Checked again, because other guesses of this address may have failed during the lookup.
    if (O.isNone(resolved.right) || !limits.mayTry(address, token)) return handshake.BAD_TOKEN
    const target = resolved.right.value
    const refusal = limits.countValid(address, token, target)
    if (refusal !== null) return refusal
    return slots.isFree(target.role) ? target : handshake.FULL
  }

  const admit = async (
    token: string, { liveId, query }: SocketTarget, address: string,
  ): Promise<AcceptedSocket | HandshakeRefusal> => {
    const target = await resolveToken(token, liveId, address)
    if (!('role' in target)) return target
    const point = handshake.findResumePoint(query)
    if (E.isLeft(point)) return point.left
    if (isOpen(target)) await sessions.ready?.(target.liveId)
    const missed = point.right === null ? E.right(null) : await sessions.missed(target.liveId, point.right)
    if (E.isLeft(missed)) return handshake.UNAVAILABLE
    if (!isOpen(target)) return { ...target, sender: null, refusal: 'session_finished', missed: missed.right }
    if (target.role === 'sender') return admitSender(target, missed.right)
    return { ...target, sender: null, refusal: null, missed: missed.right }
  }

  const open = (socket: WebSocket, wire: Duplex, accepted: AcceptedSocket, entrance: Entrance): void => {
    const { requestId, releaseSlot } = entrance
    const { rateLimits, idleTimeout } = settings
    const opened =
      serveSocket({ socket, wire, accepted, requestId, hub, logger, environment, timers, rateLimits, idleTimeout })
    sockets.add(opened)
    socket.once('close', () => {
      sockets.delete(opened)
      releaseSlot()
    })
  }

  const decide = async (request: IncomingMessage): Promise<AcceptedSocket | HandshakeRefusal> => {
    const target = findTarget(request.url ?? '', prefixes)
    if (target === null) return handshake.NOT_FOUND
    if (hasBody(request)) return handshake.WITH_BODY
    if (isClosed || options.draining()) return handshake.DRAINING
    if (!handshake.isOriginAllowed(request, settings.origins)) return handshake.FOREIGN_ORIGIN
    const address = clientAddress(arrivalOf(request).address)
    if (!slots.isFree('sender')) return handshake.FULL
    const token = handshake.findToken(target.query)
    const decision = typeof token === 'string' ? await admit(token, target, address) : token
    if ('role' in decision || decision.status !== 401) return decision
    return limits.countWrong(address) ?? decision
  }

  /** A refused sender takes a listener slot, because its socket closes at once. After `close` there are no slots. */
  const takeSlot = (accepted: AcceptedSocket): (AcceptedSocket & Pick<Entrance, 'releaseSlot'>) | HandshakeRefusal => {
    const releaseSlot = isClosed ? null : slots.take(accepted.sender === null ? 'listener' : 'sender')
    if (releaseSlot !== null) return { ...accepted, releaseSlot }
    accepted.sender?.abandoned()
    return isClosed ? handshake.DRAINING : handshake.FULL
  }

  const respond = async (request: IncomingMessage, socket: Duplex, head: Buffer, requestId: string): Promise<void> => {
    const decision = await decide(request)
    const admitted = 'role' in decision ? takeSlot(decision) : decision
    if (!('releaseSlot' in admitted)) {
      const path = loggableUrl((request.url ?? '').split('?', 1)[0] ?? '', '')
      logger.info({ requestId, status: admitted.status, path }, 'socket refused')
      handshake.refuse(socket, admitted, requestId)
      return
    }
    let isUpgraded = false
    request.headers[REQUEST_ID] = requestId
    // The client may have offered further protocols, such as h2c.
    request.headers.upgrade = 'websocket'
    try {
      upgraders[admitted.role].handleUpgrade(request, socket, head, (webSocket) => {
        open(webSocket, socket, admitted, { requestId, releaseSlot: admitted.releaseSlot })
        isUpgraded = true
      })
    } finally {
      // The client has disconnected, or its handshake is malformed.
      if (!isUpgraded) {
        admitted.releaseSlot()
        admitted.sender?.abandoned()
      }
    }
  }

  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    // This handler stays. A write to a connection that the client has reset fails after the write has returned, and
    // Node ends the process when an error has no handler.
    socket.on('error', (error) => logger.info({ error: error.message }, 'connection broke'))
    const requestId = requestIdOf(request.headers[REQUEST_ID])
    inRequest(correlationIdOf(requestId), () => respond(request, socket, head, requestId))
      .catch((error: unknown) => {
        logger.error({ requestId, error: String(error) }, 'unexpected error in a handshake')
        handshake.refuse(socket, handshake.BROKEN, requestId)
      })
  }
  // This handler is never removed. An upgrade without a response would keep its connection open, and the server could
  // not close.
  server.on('upgrade', onUpgrade)

  return {
    close: async (limitMs) => {
      isClosed = true
      const waiting = new AbortController()
      const comesBack = options.isServedElsewhere() && !settings.strict
      const endings = comesBack ? movedOnEndings(sockets.size) : []
      const closing = [...sockets].map((socket, index) => socket.end(endings[index] ?? errorEnding('server_restart')))
      void Promise.all(closing).then(() => waiting.abort())
      await pause(timers, limitMs, waiting.signal)
      for (const socket of sockets) socket.cut()
    },
    listenersOf: hub.listenersOf,
    counts: () => {
      const senders = [...sockets].filter(({ role }) => role === 'sender').length
      return { sender: senders, listener: sockets.size - senders }
    },
  }
}
