import type { Duplex } from 'node:stream'
import type { RawData, WebSocket } from 'ws'
import type { Environment, Logger } from '../../application/ports/environment.ts'
import type { LiveStatus, SocketRole } from '../../application/ports/read-models.ts'
import type { MissedFinals } from '../../application/running/missed-finals.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { catchUp } from './listeners/catch-up.ts'
import { connect } from './connection.ts'
import { type Ending, endingFor, errorEnding } from './ends.ts'
import { connectionFrame } from './frames.ts'
import { startHeartbeat } from './heartbeat.ts'
import type { Hub, Member } from './listeners/caption-hub.ts'
import { createListener } from './listeners/listener-frames.ts'
import type { PlacedSender } from './senders/sender-placement.ts'

/** Why a socket is closed right after it opens. A browser cannot read the reason of a refused handshake. */
type Refusal = 'sender_already_connected' | 'session_finished'

/** The result of a handshake that may open a socket. */
export interface AcceptedSocket {
  readonly liveId: number
  readonly role: SocketRole
  readonly status: LiveStatus
  /** Null for a listener and for a refused sender. */
  readonly sender: PlacedSender | null
  /** Sent after the connection frame and after the missed finals. */
  readonly refusal: Refusal | null
  /** Final segments that the client requested with `after` or `replay`. Null when it requested none. */
  readonly missed: MissedFinals | null
}

interface ServeSocketOptions {
  readonly socket: WebSocket
  /** The underlying stream of the socket. */
  readonly wire: Duplex
  /** Id of the handshake request, for the log. */
  readonly requestId: string
  readonly accepted: AcceptedSocket
  readonly hub: Hub
  readonly logger: Logger
  readonly environment: Pick<Environment, 'monotonic'>
  readonly timers: Timers
  readonly rateLimits: boolean
  /** Milliseconds without a frame from the sender, after which the session ends. 0 switches the timeout off. */
  readonly idleTimeout: number
}

export interface OpenSocket {
  readonly role: SocketRole
  /** Closes the socket without an effect on its session. Resolves when the socket is closed. */
  readonly end: (ending: Ending) => Promise<void>
  /** Closes the socket without a close frame. */
  readonly cut: () => void
}

/** Close code of a connection that broke without a close frame. */
const BROKEN = 1006

const bytesOf = (data: RawData): Buffer => {
  if (Array.isArray(data)) return Buffer.concat(data)
  return Buffer.isBuffer(data) ? data : Buffer.from(data)
}

/**
 * Connects a socket with the protocol of its role, the hub and the heartbeat. Call it in the same tick in which the
 * socket opens, so no frame is missed.
 */
export const serveSocket = (options: ServeSocketOptions): OpenSocket => {
  const { socket, wire, accepted, hub, logger, environment, timers, rateLimits, idleTimeout } = options
  const { liveId, role, sender, missed } = accepted
  const openedAt = environment.monotonic()
  const about = { requestId: options.requestId, liveId, role }
  const heartbeat = startHeartbeat({ ping: () => socket.ping(), lost: () => connection.drop(), timers, environment })
  const connection = connect(socket, wire, heartbeat.setPaused)
  const member: Member = { role, connection }
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  /** True when the service closes the socket. The session must not treat this as a disconnect of the client. */
  let isEndedByService = false
  let isClosed = false
  let hasFailed = false

  // The socket joins the hub in the same tick as the connection frame, so it misses no text. A client with missed
  // finals joins after them.
  const ended = accepted.refusal === null && missed === null ? hub.join(liveId, member) : undefined
  const refusal = ended === undefined ? accepted.refusal : 'session_finished'
  const shared = { connection, environment, timers, rateLimits }
  const incoming = sender === null ? createListener(shared) : sender.serve({ ...shared, idleTimeout })

  const guarded = (handle: () => void): void => {
    try {
      handle()
    } catch (error) {
      logger.error({ ...about, error: String(error) }, 'unexpected error on a socket')
      socket.close(1011)
    }
  }

  socket.on('message', (data, isBinary) =>
    guarded(() => (isBinary ? incoming.binary(bytesOf(data)) : incoming.text(bytesOf(data).toString('utf8')))),
  )
  socket.on('ping', () => guarded(incoming.ping))
  socket.on('pong', heartbeat.pong)
  socket.on('error', (error) => {
    // The client violated the protocol, which counts as a clean close.
    hasFailed = true
    logger.info({ ...about, error: error.message }, 'socket error')
  })
  socket.once('close', (code) => {
    isClosed = true
    heartbeat.stop()
    hub.leave(liveId, member)
    if (!isEndedByService) guarded(() => incoming.closed(code !== BROKEN || hasFailed))
    logger.info({ ...about, code, ms: Math.round(environment.monotonic() - openedAt) }, 'socket closed')
  })

  /** Joins the hub after the missed finals. Ends the socket if the session has ended meanwhile. */
  const join = (sentAhead: ReadonlySet<string>): void => {
    if (refusal !== null) return connection.end(errorEnding(refusal))
    if (isClosed) return
    if (sentAhead.size > 0) member.sentAhead = new Set(sentAhead)
    const cause = hub.join(liveId, member)
    const ending = cause === undefined ? null : endingFor(cause, role)
    if (ending !== null) connection.end(ending)
  }

  connection.send(connectionFrame(role, liveId, ended?.status ?? accepted.status))
  if (missed !== null) void catchUp({ missed, connection, encode: hub.encode, join, isClosed: () => isClosed, logger })
  else if (refusal !== null) connection.end(errorEnding(refusal))

  return {
    role,
    end: async (ending) => {
      isEndedByService = true
      isClosed = true
      hub.leave(liveId, member)
      connection.end(ending)
      await closed
    },
    cut: () => {
      isEndedByService = true
      connection.drop()
    },
  }
}
