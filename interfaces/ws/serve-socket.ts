import type { Duplex } from 'node:stream'
import type { RawData, WebSocket } from 'ws'
import type { Environment, Logger } from '../../application/ports/environment.ts'
import type { LiveStatus, SocketRole } from '../../application/ports/read-models.ts'
import type { MissedFinals } from '../../application/sessions/missed-finals.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { catchUp } from './listeners/catch-up.ts'
import { connect } from './connection.ts'
import { endingFor, errorEnding } from './ends.ts'
import type { Ending } from './ends.ts'
import { connectionFrame } from './frames.ts'
import { startHeartbeat } from './heartbeat.ts'
import type { Hub, Member } from './listeners/hub.ts'
import { createListener } from './listeners/listener.ts'
import type { PlacedSender } from './senders/places.ts'

/** Why a socket is closed as soon as it is open. */
type Refusal = 'sender_already_connected' | 'session_finished' | 'invalid_message'

/** What a socket that is opened is there for. */
export interface Admission {
  readonly liveId: number
  readonly role: SocketRole
  readonly status: LiveStatus
  /** The sender's, null for listeners and for those refused. */
  readonly sender: PlacedSender | null
  /** Said right after the connection message, and after what the socket missed. */
  readonly refusal: Refusal | null
  /** What it asked for of the time before it came; null for nothing. */
  readonly missed: MissedFinals | null
}

interface ServeSocketOptions {
  readonly socket: WebSocket
  /** What the socket runs on. */
  readonly wire: Duplex
  /** Of the handshake, for the log. */
  readonly requestId: string
  readonly admission: Admission
  readonly hub: Hub
  readonly logger: Logger
  readonly environment: Pick<Environment, 'monotonic'>
  readonly timers: Timers
  readonly rateLimits: boolean
  /** Milliseconds, 0 is never (D46). */
  readonly idleTimeout: number
}

export interface OpenSocket {
  readonly role: SocketRole
  /** Closes it without the sender's live taking notice; resolves when it is closed. */
  readonly end: (ending: Ending) => Promise<void>
  readonly cut: () => void
}

/** No close frame came. */
const BROKEN_OFF = 1006

const BAD_RESUME_POINT = 'after and replay are whole numbers from 0'

const bytesOf = (data: RawData): Buffer => {
  if (Array.isArray(data)) return Buffer.concat(data)
  return Buffer.isBuffer(data) ? data : Buffer.from(data)
}

/** Wires an accepted socket to its role's protocol, the hub and the heartbeat, in the tick in which it opened. */
export const serveSocket = (options: ServeSocketOptions): OpenSocket => {
  const { socket, wire, admission, hub, logger, environment, timers, rateLimits, idleTimeout } = options
  const { liveId, role, sender, missed } = admission
  const since = environment.monotonic()
  const about = { requestId: options.requestId, liveId, role }
  const heartbeat = startHeartbeat({ ping: () => socket.ping(), lost: () => connection.drop(), timers, environment })
  const connection = connect(socket, wire, heartbeat.reading)
  const member: Member = { role, connection }
  const gone = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  let spared = false
  let isGone = false
  let failed = false

  // Joined before the connection message and in the same tick: nothing can be published in between. Who missed something
  // joins once that is sent.
  const ended = admission.refusal === null && missed === null ? hub.join(liveId, member) : undefined
  const refusal = ended === undefined ? admission.refusal : 'session_finished'
  const shared = { connection, environment, timers, rateLimits }
  const incoming = sender === null ? createListener(shared) : sender.serve({ ...shared, idleTimeout })

  const guarded = (handle: () => void): void => {
    try {
      handle()
    } catch (error) {
      logger.error({ ...about, error: String(error) }, 'a socket broke')
      socket.close(1011)
    }
  }

  socket.on('message', (data, isBinary) =>
    guarded(() => (isBinary ? incoming.binary(bytesOf(data)) : incoming.text(bytesOf(data).toString('utf8')))),
  )
  socket.on('ping', () => guarded(incoming.ping))
  socket.on('pong', heartbeat.pong)
  socket.on('error', (error) => {
    // The client broke the protocol, which is as good as a close.
    failed = true
    logger.info({ ...about, error: error.message }, 'socket error')
  })
  socket.once('close', (code) => {
    isGone = true
    heartbeat.stop()
    hub.leave(liveId, member)
    if (!spared) guarded(() => incoming.closed(code !== BROKEN_OFF || failed))
    logger.info({ ...about, code, ms: Math.round(environment.monotonic() - since) }, 'socket closed')
  })

  const refuse = (code: Refusal): void => connection.end(errorEnding(code, code === 'invalid_message' ? BAD_RESUME_POINT : undefined))

  /** The live's own end where it ended meanwhile. */
  const join = (ahead: ReadonlySet<string>): void => {
    if (refusal !== null) return refuse(refusal)
    if (isGone) return
    if (ahead.size > 0) member.ahead = new Set(ahead)
    const cause = hub.join(liveId, member)
    const ending = cause === undefined ? null : endingFor(cause, role)
    if (ending !== null) connection.end(ending)
  }

  connection.send(connectionFrame(role, liveId, ended?.status ?? admission.status))
  if (missed !== null) void catchUp({ missed, connection, encode: hub.encode, join, isGone: () => isGone, logger })
  else if (refusal !== null) refuse(refusal)

  return {
    role,
    end: async (ending) => {
      spared = true
      isGone = true
      hub.leave(liveId, member)
      connection.end(ending)
      await gone
    },
    cut: () => {
      spared = true
      connection.drop()
    },
  }
}
