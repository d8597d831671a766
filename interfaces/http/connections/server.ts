import { createServer } from 'node:http'
import type { IncomingMessage, RequestListener, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { Socket } from 'node:net'
import type { Logger } from '../../../application/ports/environment.ts'
import { loggableError } from '../access-log.ts'
import { createExchanges } from './exchanges.ts'
import type { Exchanges } from './exchanges.ts'
import { rawAnswer } from './raw-answer.ts'
import { limitWaitingConnections } from './waiting-connections.ts'
import type { WaitingLimits } from './waiting-connections.ts'

/** Slow and huge requests end here; times in milliseconds. */
export const SERVER_LIMITS = {
  headersTimeout: 15_000, requestTimeout: 30_000, maxHeaderSize: 16 * 1024,
  /** How often the two times are looked at; Node's own 30 s would make them 45 and 60. */
  connectionsCheckingInterval: 5000,
  /** The app asks for it, since its refusals have a body. */
  requireHostHeader: false,
} as const

/**
 * Milliseconds in which the system could hand on nothing of an answer before its connection is cut. It takes more only
 * once a third of what it holds is gone, up to a MiB or so: slow clients need that long for it.
 */
const UNTAKEN_TIMEOUT = 60_000

/** Bytes of which a system may keep some for a client that does not read. */
const LARGE = 64 * 1024

export interface HttpServerOptions {
  readonly logger: Logger
  /** CIDR ranges (TRUSTED_PROXIES). */
  readonly trustedProxies: ReadonlyArray<string>
  readonly waiting: WaitingLimits
  readonly untakenTimeout?: number
  /** Which offers of another protocol are taken up; without it every one. */
  readonly shouldUpgrade?: (request: IncomingMessage) => boolean
}

/** What Node's parser and clock complain of: by code, else it is the syntax. */
const COMPLAINTS: Readonly<Record<string, readonly [number, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long'],
  HPE_HEADER_OVERFLOW: [431, 'The request headers are too large'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'Request body too large'],
}
const MALFORMED = [400, 'The request is not valid HTTP'] as const

/** Answers what Node refuses before there is a request, or amid its body, with the same body as every other error. */
const answerMalformed = (server: Server, exchanges: Exchanges, logger: Logger): void => {
  server.on('clientError', (error: Error, socket: Duplex) => {
    const loggable = loggableError(error)
    const [status, detail] = COMPLAINTS[loggable.code ?? ''] ?? MALFORMED
    // A broken connection has nobody to answer.
    if (!(socket instanceof Socket) || !socket.writable) return void socket.destroy()
    logger.info({ status, ...loggable }, 'malformed request')
    exchanges.endWith(socket, rawAnswer(status, detail))
  })
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
}

/**
 * Cuts connections whose client takes nothing of its answer. The clock is that of the socket: it starts anew with bytes
 * that the system takes, so that slow downloads go on; no bytes are read meanwhile (`limitWaitingConnections`). Node's
 * clock for idle connections ends here as well; a request that is being worked on has no clock.
 */
const cutUntaken = (server: Server, exchanges: Exchanges, milliseconds: number): void => {
  server.timeout = milliseconds
  const givenTime = new WeakMap<Socket, number>()
  server.on('timeout', (socket) => {
    // Closed without a reset, the system would go on offering for many minutes what it holds.
    if (socket.writableLength > 0) return void socket.resetAndDestroy()
    if (exchanges.isBusy(socket)) return
    if (socket.bytesWritten < LARGE) return void socket.destroy()
    // The system took all of it, nobody knows whether the client did: it has as long as with an answer that is stuck.
    if (givenTime.get(socket) === socket.bytesWritten) return void socket.resetAndDestroy()
    givenTime.set(socket, socket.bytesWritten)
    socket.setTimeout(milliseconds)
  })
}

/** The server that carries an app and, beside it, sockets. It does not listen yet. */
export const createHttpServer = (handle: RequestListener, options: HttpServerOptions): Server => {
  const { logger, trustedProxies, waiting, untakenTimeout = UNTAKEN_TIMEOUT, shouldUpgrade = () => true } = options
  const exchanges = createExchanges(handle)
  // Answers that are still owed would be written amid the frames of the other protocol.
  const shouldUpgradeCallback = (request: IncomingMessage): boolean =>
    !exchanges.isBusy(request.socket) && shouldUpgrade(request)
  const server = createServer({ ...SERVER_LIMITS, shouldUpgradeCallback }, exchanges.serve)
  answerMalformed(server, exchanges, logger)
  cutUntaken(server, exchanges, untakenTimeout)
  limitWaitingConnections(server, exchanges, trustedProxies, waiting)
  return server
}
