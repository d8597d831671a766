import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import type { WebSocket } from 'ws'
import type { Environment, Logger } from '../../application/ports/environment.ts'
import type { SocketRole } from '../../application/ports/read-models.ts'
import type { LiveBus } from '../../application/pipeline/signals.ts'
import type { HeardSessions } from '../../application/sessions/runs/socket-sessions.ts'
import type { MissedFinals } from '../../application/sessions/missed-finals.ts'
import { pause } from '../../application/waiting.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { loggableUrl } from '../http/access-log.ts'
import { clientAddress } from '../http/clients/client-address.ts'
import { createArrivalReader } from '../http/clients/forwarded.ts'
import { correlationIdOf, inNoRequest, requestIdOf } from '../http/request-id.ts'
import type { InRequest } from '../http/request-id.ts'
import { findTarget } from '../http/socket-path.ts'
import type { SocketTarget } from '../http/socket-path.ts'
import { errorEnding } from './ends.ts'
import * as handshake from './handshakes/handshake.ts'
import type { HandshakeRefusal } from './handshakes/handshake.ts'
import { createHandshakeLimits } from './handshakes/handshake-limits.ts'
import { createHub } from './listeners/hub.ts'
import { createPlaces } from './handshakes/places.ts'
import type { PlaceSender } from './senders/places.ts'
import { serveSocket } from './serve-socket.ts'
import type { Admission, OpenSocket } from './serve-socket.ts'

/** S29: a base64 frame of 10 s is 427 KB; nothing that a listener may say is long. */
const LARGEST_FRAME: Readonly<Record<SocketRole, number>> = { sender: 512 * 1024, listener: 4 * 1024 }

export interface SocketSettings {
  /** Origins that may connect (WS_ORIGINS). */
  readonly origins: '*' | ReadonlyArray<string>
  /** COMPAT_STRICT: exactly the interface's members in frames. */
  readonly strict: boolean
  /** False (RATE_LIMIT=0) switches the limits on frames and on handshakes off. */
  readonly rateLimits: boolean
  /** Milliseconds without a frame after which an active raw live ends, 0 is never (IDLE_TIMEOUT). */
  readonly idleTimeout: number
  /** CIDR ranges of the proxies whose forwarding headers count (TRUSTED_PROXIES). */
  readonly trustedProxies: ReadonlyArray<string>
  /** Failed handshakes of one address before 429; 0 switches the limits on handshakes off. */
  readonly failedHandshakesPerMinute: number
  /** Open at once before 429: the process has only so many descriptors (S38). */
  readonly mostSockets: number
  /** Those of them that listeners leave free. */
  readonly placesForSenders: number
}

export interface SocketServerOptions {
  readonly server: Server
  /** Path prefixes, '' among them where there is none (D1). */
  readonly prefixes: ReadonlyArray<string>
  readonly sessions: HeardSessions
  /** Who gives senders their places. */
  readonly placeSender: PlaceSender
  readonly bus: LiveBus
  readonly settings: SocketSettings
  readonly logger: Logger
  readonly environment: Pick<Environment, 'monotonic'>
  readonly timers: Timers
  readonly inRequest?: InRequest
  /** True once no new socket is taken. */
  readonly draining: () => boolean
}

export interface SocketServer {
  /** Opens no more; `server_restart` and 1012 to all; those that do not answer within `limitMs` are cut. */
  readonly close: (limitMs: number) => Promise<void>
  readonly counts: () => Readonly<Record<SocketRole, number>>
  /** How many listen to a live. */
  readonly listenersOf: (liveId: number) => number
}

/** What a token opens. */
type Opened = Pick<Admission, 'liveId' | 'role' | 'status'>

/** How an admitted socket came in, and how it gives its place back. */
interface Entrance {
  readonly requestId: string
  readonly leave: () => void
}

const REQUEST_ID = 'x-request-id'

/** Answers 101 with the id that the request was given. */
const createUpgrader = (role: SocketRole): WebSocketServer =>
  new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: LARGEST_FRAME[role],
    maxFragments: 1024,
    maxBufferedChunks: 8192,
  }).on('headers', (headers, request) => headers.push(`X-Request-ID: ${requestIdOf(request.headers[REQUEST_ID])}`))

/** Takes the session sockets of `server`: token and place are settled before 101, the rest after it (D36). */
export const attachSocketServer = (options: SocketServerOptions): SocketServer => {
  const { server, prefixes, sessions, placeSender, settings, logger, environment, timers, inRequest = inNoRequest } = options
  const hub = createHub({ bus: options.bus, strict: settings.strict })
  const upgraders = { sender: createUpgrader('sender'), listener: createUpgrader('listener') }
  const limits = createHandshakeLimits(environment, settings.rateLimits ? settings.failedHandshakesPerMinute : 0)
  const places = createPlaces(settings.mostSockets, settings.placesForSenders)
  const arrivalOf = createArrivalReader(settings.trustedProxies)
  const sockets = new Set<OpenSocket>()
  let closed = false

  const place = async (opened: Opened, missed: MissedFinals | null): Promise<Admission | HandshakeRefusal> => {
    const placed = await placeSender(opened.liveId)
    if (E.isRight(placed)) return { ...opened, sender: placed.right, refusal: null, missed }
    switch (placed.left) {
      case 'already_connected':
        return { ...opened, sender: null, refusal: 'sender_already_connected', missed: null }
      case 'over':
        return { ...opened, status: opened.status === 'error' ? 'error' : 'finished', sender: null, refusal: 'session_finished', missed }
      case 'unavailable':
        return handshake.UNAVAILABLE
    }
  }

  const resolve = async (token: string, wanted: number | null, address: string): Promise<Opened | HandshakeRefusal> => {
    const isId = wanted === null || (wanted > 0 && Number.isSafeInteger(wanted))
    if (!isId || !limits.mayTry(address, token)) return handshake.BAD_TOKEN
    const resolved = await sessions.resolveToken(token, wanted)()
    if (E.isLeft(resolved)) return handshake.UNAVAILABLE
    // Others of this address may have been wrong meanwhile: of guesses that come together no more are answered.
    if (O.isNone(resolved.right) || !limits.mayTry(address, token)) return handshake.BAD_TOKEN
    const opened = resolved.right.value
    const refusal = limits.right(address, token, opened)
    if (refusal !== null) return refusal
    return places.isFree(opened.role) ? opened : handshake.FULL
  }

  const admit = async (token: string, target: SocketTarget, address: string): Promise<Admission | HandshakeRefusal> => {
    const { liveId, query } = target
    const opened = await resolve(token, liveId, address)
    if (!('role' in opened)) return opened
    const point = handshake.findResumePoint(query)
    if (point === 'bad') return { ...opened, sender: null, refusal: 'invalid_message', missed: null }
    const isOpen = opened.status === 'pending' || opened.status === 'active'
    if (isOpen) await sessions.ready?.(opened.liveId)
    const missed = point === null ? E.right(null) : await sessions.missed(opened.liveId, point)()
    if (E.isLeft(missed)) return handshake.UNAVAILABLE
    if (!isOpen) return { ...opened, sender: null, refusal: 'session_finished', missed: missed.right }
    return opened.role === 'sender' ? place(opened, missed.right) : { ...opened, sender: null, refusal: null, missed: missed.right }
  }

  const open = (socket: WebSocket, wire: Duplex, admission: Admission, { requestId, leave }: Entrance): void => {
    const { rateLimits, idleTimeout } = settings
    const opened = serveSocket({ socket, wire, admission, requestId, hub, logger, environment, timers, rateLimits, idleTimeout })
    sockets.add(opened)
    socket.once('close', () => {
      sockets.delete(opened)
      leave()
    })
  }

  const judge = async (request: IncomingMessage): Promise<Admission | HandshakeRefusal> => {
    const target = findTarget(request.url ?? '', prefixes)
    if (target === null) return handshake.NOT_FOUND
    if (closed || options.draining()) return handshake.DRAINING
    if (!handshake.isOriginAllowed(request, settings.origins)) return handshake.FOREIGN_ORIGIN
    const address = clientAddress(arrivalOf(request).address)
    if (!places.isFree('sender')) return handshake.FULL
    const token = handshake.findToken(target.query)
    const admission = typeof token === 'string' ? await admit(token, target, address) : token
    if ('role' in admission || admission.status !== 401) return admission
    return limits.wrong(address) ?? admission
  }

  /**
   * A sender that is sent away at once takes none of the places that are kept for senders. Once the sockets are closed
   * there are none: nobody would end another one.
   */
  const takePlace = (admission: Admission): (Admission & Pick<Entrance, 'leave'>) | HandshakeRefusal => {
    const leave = closed ? null : places.take(admission.sender === null ? 'listener' : 'sender')
    if (leave !== null) return { ...admission, leave }
    admission.sender?.abandoned()
    return closed ? handshake.DRAINING : handshake.FULL
  }

  const answer = async (request: IncomingMessage, socket: Duplex, head: Buffer, requestId: string): Promise<void> => {
    const admission = await judge(request)
    const judged = 'role' in admission ? takePlace(admission) : admission
    if (!('leave' in judged)) {
      logger.info({ requestId, status: judged.status, path: loggableUrl((request.url ?? '').split('?', 1)[0] ?? '', '') }, 'socket refused')
      handshake.refuse(socket, { ...judged, headers: { ...judged.headers, [REQUEST_ID]: requestId } })
      return
    }
    let upgraded = false
    request.headers[REQUEST_ID] = requestId
    // Of several protocols that were offered this one is taken.
    request.headers.upgrade = 'websocket'
    try {
      upgraders[judged.role].handleUpgrade(request, socket, head, (webSocket) => {
        open(webSocket, socket, judged, { requestId, leave: judged.leave })
        upgraded = true
      })
    } finally {
      // The client left meanwhile or its handshake is malformed: what it won is free again.
      if (!upgraded) {
        judged.leave()
        judged.sender?.abandoned()
      }
    }
  }

  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const onError = (error: Error): void => logger.info({ error: error.message }, 'a socket broke before its handshake')
    socket.on('error', onError)
    const requestId = requestIdOf(request.headers[REQUEST_ID])
    inRequest(correlationIdOf(requestId), () => answer(request, socket, head, requestId))
      .catch((error: unknown) => {
        logger.error({ requestId, error: String(error) }, 'a handshake failed')
        handshake.refuse(socket, handshake.BROKEN)
      })
      .finally(() => {
        if (!socket.writableEnded) socket.off('error', onError)
      })
  }
  // Also when closed: an upgrade that nobody answers would keep its connection, and the server, open for good.
  server.on('upgrade', onUpgrade)

  return {
    close: async (limitMs) => {
      closed = true
      const waiting = new AbortController()
      const gone = [...sockets].map(async (socket) => socket.end(errorEnding('server_restart')))
      void Promise.all(gone).then(() => waiting.abort())
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
