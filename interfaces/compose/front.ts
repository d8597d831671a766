import type { AddressInfo } from 'node:net'
import type { LiveBus } from '../../application/pipeline/signals.ts'
import type { Environment } from '../../application/ports/environment.ts'
import { atMost } from '../../application/waiting.ts'
import type { Timers } from '../../application/ports/timers.ts'
import type { ListenerSessions } from '../../application/sessions/socket-sessions.ts'
import { watchLoop } from '../../infrastructure/node/loop-watch.ts'
import type { Settings } from '../../infrastructure/settings.ts'
import { acceptBacklog } from '../http/connections/accept-backlog.ts'
import { createHttpApp } from '../http/app.ts'
import type { HttpAppOptions } from '../http/app.ts'
import type { Listeners } from '../../application/lives/queries/get-activity.ts'
import { createRequestLimits } from '../http/clients/request-limits.ts'
import { prefixes } from '../http/route-table.ts'
import { createHttpServer } from '../http/connections/server.ts'
import { NO_WAITING_LIMITS, WAITING_LIMITS } from '../http/connections/waiting-connections.ts'
import { isWebSocketRequest } from '../ws/handshakes/handshake.ts'
import type { PlaceSender } from '../ws/senders/sender-placement.ts'
import { attachSocketServer } from '../ws/socket-server.ts'
import { maxSockets, senderSlots } from './socket-limits.ts'

/** How long the stop waits for the close handshakes of WebSockets. */
const SOCKETS_MS = 1000
/** How long the stop waits for pending requests. The request that finishes a session waits for its last text. */
const REQUESTS_MS = 6000
/** Connections that may wait for `accept`, enough for all listeners after a restart. The system may allow fewer. */
const BACKLOG = 4096

interface FrontOptions extends Omit<HttpAppOptions, 'settings'> {
  readonly settings: Settings
  readonly sessions: ListenerSessions
  readonly placeSender: PlaceSender
  readonly bus: LiveBus
  readonly environment: Pick<Environment, 'monotonic'>
  readonly timers: Timers
  /** True while the service stops: new sockets are refused. */
  readonly draining: () => boolean
  /** True while another process accepts sockets. */
  readonly isServedElsewhere: () => boolean
}

export interface Front {
  /** Address of the bound port: `http://host:port`. */
  readonly url: string
  readonly listeners: Listeners
  /** Refuses new connections, closes the sockets and waits for pending requests. */
  readonly close: () => Promise<void>
}

export const urlOf = ({ address, family, port }: AddressInfo): string =>
  `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`

/** Serves HTTP and WebSocket on one port. Rejects if the port cannot be bound. */
export const openFront = async (options: FrontOptions): Promise<Front> => {
  const { settings, sessions, placeSender, bus, logger, environment, timers, inRequest } = options
  const handle = createHttpApp({ ...options, limits: createRequestLimits(environment, settings.rateLimit) }).callback()
  let isClosing = false
  const max = maxSockets()
  // With few file descriptors, one client must not use all of them.
  const bounded = { ...WAITING_LIMITS, maxOpen: Math.min(WAITING_LIMITS.maxOpen, max) }
  const waiting = settings.rateLimit > 0 ? bounded : NO_WAITING_LIMITS
  const server = createHttpServer((request, response) => {
    // During the stop, a keep-alive connection would delay the close of the server.
    response.once('close', () => {
      if (isClosing) setImmediate(() => server.closeIdleConnections())
    })
    void handle(request, response)
  }, { logger, trustedProxies: settings.trustedProxies ?? [], waiting, shouldUpgrade: isWebSocketRequest })
  const sockets = attachSocketServer({
    server,
    prefixes: prefixes(settings.basePath),
    sessions,
    placeSender,
    bus,
    settings: {
      origins: settings.wsOrigins.includes('*') ? '*' : settings.wsOrigins,
      strict: settings.compatStrict,
      rateLimits: settings.rateLimit > 0,
      idleTimeout: settings.idleTimeout,
      trustedProxies: settings.trustedProxies ?? [],
      failedHandshakesPerMinute: 30,
      maxSockets: max,
      senderSlots: senderSlots(max),
    },
    logger,
    environment,
    timers,
    draining: options.draining,
    isServedElsewhere: options.isServedElsewhere,
    ...(inRequest && { inRequest }),
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(settings.port, settings.host, BACKLOG, resolve)
  })
  // A failed accept must not stop the service.
  server.on('error', (error) => logger.error({ err: error }, 'connection not accepted'))

  const unwatchLoop = watchLoop({ timers, monotonic: environment.monotonic, logger })

  return {
    listeners: { of: sockets.listenersOf, all: () => sockets.counts().listener },
    url: urlOf(server.address() as AddressInfo),
    close: async () => {
      isClosing = true
      await acceptBacklog(server, BACKLOG)
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      await sockets.close(SOCKETS_MS)
      await atMost(timers, REQUESTS_MS, closed)
      server.closeAllConnections()
      await closed
      unwatchLoop()
    },
  }
}
