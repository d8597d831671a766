import type { AddressInfo } from 'node:net'
import { readFileSync } from 'node:fs'
import { startLoadHistory } from '../../application/load-history.ts'
import type { Jobs } from '../../application/jobs/jobs.ts'
import { atMost } from '../../application/waiting.ts'
import { watchLoop } from '../../infrastructure/observability/loop-watch.ts'
import { inRequest } from '../../infrastructure/observability/request-context.ts'
import { createHttpApp } from '../http/app.ts'
import { setupLink } from '../http/clients/links.ts'
import { createObserverCheck } from '../http/clients/observers.ts'
import { createRequestLimits } from '../http/clients/request-limits.ts'
import { acceptBacklog } from '../http/connections/accept-backlog.ts'
import { createHttpServer } from '../http/connections/server.ts'
import { NO_WAITING_LIMITS, WAITING_LIMITS } from '../http/connections/waiting-connections.ts'
import { prefixes } from '../http/route-table.ts'
import { isWebSocketRequest } from '../ws/handshakes/handshake.ts'
import { attachSocketServer } from '../ws/socket-server.ts'
import { type Accounts, openAccounts } from './accounts.ts'
import { assemble, type Part } from './assemble.ts'
import { callsOf } from './calls.ts'
import { openControl } from './control.ts'
import { healthOf } from './health.ts'
import { startJobs } from './jobs.ts'
import type { RunningService, Service } from './service.ts'
import { runStartStep } from './start-step.ts'

/** What clients reach of a service. */
export interface Front extends Part, Pick<RunningService, 'url' | 'setupLink'> {}

/** File descriptors for stores, models, requests and processes. */
const RESERVED_DESCRIPTORS = 256
/** For systems that do not report their limit. */
const DEFAULT_MAX_SOCKETS = 65_536

/** Returns the number of WebSockets that may be open at once. REST needs the remaining file descriptors. */
const maxSockets = (): number => {
  try {
    const limit = Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1])
    return Number.isInteger(limit) ? Math.max(Math.floor(limit / 4), limit - RESERVED_DESCRIPTORS) : DEFAULT_MAX_SOCKETS
  } catch {
    return DEFAULT_MAX_SOCKETS
  }
}

/** More senders than one machine can transcribe. */
const MAX_SENDER_SLOTS = 1000

/** Returns the number of WebSockets that are reserved for senders, so many listeners cannot lock out a sender. */
const senderSlots = (max: number): number => Math.min(MAX_SENDER_SLOTS, Math.ceil(max / 8))

/** How long the stop waits for the close handshakes of WebSockets. */
const SOCKETS_MS = 1000
/** How long the stop waits for pending requests. The request that finishes a session waits for its last text. */
const REQUESTS_MS = 6000
/** Connections that may wait for `accept`, enough for all listeners after a restart. The system may allow fewer. */
const BACKLOG = 4096

export const urlOf = ({ address, family, port }: AddressInfo): string =>
  `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`

/**
 * Opens the port for clients, and the control socket in the data directory. Rejects if the port cannot be bound. `stop`
 * first refuses new sessions and new sockets, and waits up to DRAIN_TIMEOUT for open sessions.
 */
const serveClients = (service: Service, accounts: Accounts, jobs: Jobs): Promise<Pick<Front, 'url' | 'stop'>> =>
  assemble(async (opened) => {
    const { foundation, writeSide, readSide, sources, access } = service
    const { settings, environment, timers, logger, version, budget, lags, stores: { members } } = foundation
    let [isDraining, isClosing] = [false, false]
    const draining = (): boolean => isDraining
    const isServedElsewhere = (): boolean =>
      members.all().some(({ incarnation, roles, state }) =>
        incarnation !== members.self.incarnation && roles.includes('api') && state === 'up')

    const max = maxSockets()
    // With few file descriptors, one client must not use all of them.
    const bounded = { ...WAITING_LIMITS, maxOpen: Math.min(WAITING_LIMITS.maxOpen, max) }
    const waiting = settings.rateLimit > 0 ? bounded : NO_WAITING_LIMITS
    const trustedProxies = settings.trustedProxies ?? []
    const server = createHttpServer((request, response) => {
      // During the stop, a keep-alive connection would delay the close of the server.
      response.once('close', () => {
        if (isClosing) setImmediate(() => server.closeIdleConnections())
      })
      void handle(request, response)
    }, { logger, trustedProxies, waiting, shouldUpgrade: isWebSocketRequest })
    const sockets = attachSocketServer({
      ...access,
      server,
      prefixes: prefixes(settings.basePath),
      settings: {
        origins: settings.wsOrigins.includes('*') ? '*' : settings.wsOrigins,
        strict: settings.compatStrict,
        rateLimits: settings.rateLimit > 0,
        idleTimeout: settings.idleTimeout,
        trustedProxies,
        failedHandshakesPerMinute: 30,
        maxSockets: max,
        senderSlots: senderSlots(max),
      },
      logger,
      environment,
      timers,
      draining,
      isServedElsewhere,
      inRequest,
    })

    const listeners = { of: sockets.listenersOf, all: () => sockets.counts().listener }
    const load = startLoadHistory({ lags, admission: writeSide.admission, listeners, environment, timers })
    opened({ stop: async () => load.stop() })
    const http = {
      ...accounts.calls,
      ...callsOf(service, draining, listeners),
      ...healthOf(service, draining),
      jobs,
      recentLoad: load.recent,
      mayObserve: createObserverCheck(settings.metricsToken),
      settings, version, logger, inRequest, budget,
    }
    const limits = createRequestLimits(environment, settings.rateLimit)
    const handle = createHttpApp({ ...http, limits }).callback()

    const closing: Array<() => Promise<void>> = []
    opened({
      stop: async () => {
        await Promise.all(closing.map((close) => close()))
      },
    })
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(settings.port, settings.host, BACKLOG, resolve)
    })
    // A failed accept must not stop the service.
    server.on('error', (error) => logger.error({ err: error }, 'connection not accepted'))
    const unwatchLoop = watchLoop({ timers, monotonic: environment.monotonic, logger })
    closing.push(async () => {
      isClosing = true
      await acceptBacklog(server, BACKLOG)
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      await sockets.close(SOCKETS_MS)
      await atMost(timers, REQUESTS_MS, closed)
      server.closeAllConnections()
      await closed
      unwatchLoop()
    })
    const control = { ...http, mayObserve: createObserverCheck(null), projector: readSide.projector }
    closing.push(await openControl(control, settings.dataDir))
    const bound = server.address() as AddressInfo
    sources.setOwnPort(bound.port)
    opened({
      stop: async () => {
        isDraining = true
        await service.drain()
      },
    })
    return { url: urlOf(bound) }
  })

/** Opens accounts and jobs, resumes the sessions, and then lets clients connect. */
export const openFront = (service: Service): Promise<Front> =>
  assemble(async (opened) => {
    const accounts = opened(await openAccounts(service))
    const jobs = opened(await startJobs(service))
    // Sessions of an earlier process resume before their senders can connect.
    await service.resume()
    const { url } = opened(await serveClients(service, accounts, jobs))
    void service.readSide.projector.finishRebuilds()
    const token = await runStartStep('look for an administrator', accounts.setup.token)
    return { url, setupLink: token === null ? null : setupLink(service.foundation.settings, url, token) }
  })
