import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { Socket } from 'node:net'
import type { Logger } from '../../../application/ports/environment.ts'
import { loggableError } from '../access-log.ts'
import { createExchanges, type Exchanges } from './exchanges.ts'
import { rawResponse, sendRefusal } from './raw-response.ts'
import { prepareRequest } from './request-target.ts'
import { limitWaitingConnections, type WaitingLimits } from './waiting-connections.ts'

/** Limits for slow and large requests. Times are in milliseconds, and sizes are in bytes. */
export const SERVER_LIMITS = {
  headersTimeout: 15_000, requestTimeout: 30_000, maxHeaderSize: 16 * 1024,
  /** How often Node checks both timeouts. With its default of 30 s, a request could last 30 s longer than allowed. */
  connectionsCheckingInterval: 5000,
  /** `prepareRequest` checks Host, so the error has a JSON body. */
  requireHostHeader: false,
} as const

/**
 * A connection is cut when the operating system has accepted no bytes of a response for this time. The timeout is long
 * for slow clients: the system accepts more bytes only after a third of its buffer (about 1 MiB) is empty.
 */
const UNREAD_TIMEOUT_MS = 60_000

/** The operating system may hold part of a larger response that the client has not read. */
const LARGE_RESPONSE_BYTES = 64 * 1024

export interface HttpServerOptions {
  readonly logger: Logger
  /** CIDR ranges of the proxies whose forwarding headers count (TRUSTED_PROXIES). */
  readonly trustedProxies: ReadonlyArray<string>
  readonly waiting: WaitingLimits
  readonly unreadTimeoutMs?: number
  /** Decides whether an `Upgrade` request becomes a socket. By default none does. */
  readonly shouldUpgrade?: (request: IncomingMessage) => boolean
}

/** Responses to errors of Node's HTTP parser and timeouts, by error code. */
const PARSER_ERRORS: Readonly<Record<string, readonly [number, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long'],
  HPE_HEADER_OVERFLOW: [431, 'The request headers are too large'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'Request body too large'],
}
const MALFORMED = [400, 'The request is not valid HTTP'] as const

/** Answers requests that Node's parser refuses, with the same JSON body as every other error. */
const answerMalformed = (server: Server, exchanges: Exchanges, logger: Logger): void => {
  server.on('clientError', (error: Error, socket: Duplex) => {
    const loggable = loggableError(error)
    const [status, detail] = PARSER_ERRORS[loggable.code ?? ''] ?? MALFORMED
    if (!(socket instanceof Socket) || !socket.writable) return void socket.destroy()
    logger.info({ status, ...loggable }, 'malformed request')
    exchanges.endWith(socket, rawResponse(status, detail))
  })
  server.on('connect', (_request, socket: Duplex) => {
    socket.on('error', () => undefined)
    if (socket instanceof Socket) exchanges.endWith(socket, rawResponse(400, 'This server is not a proxy'))
    else socket.destroy()
  })
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
}

/**
 * Cuts connections whose client does not read its response, and idle connections. The timeout restarts whenever the
 * operating system accepts bytes, so slow downloads continue. Input does not restart it, because
 * `limitWaitingConnections` pauses reading. A request in progress has no timeout.
 */
const cutUnread = (server: Server, exchanges: Exchanges, timeoutMs: number): void => {
  server.timeout = timeoutMs
  const bytesAtExtension = new WeakMap<Socket, number>()
  server.on('timeout', (socket) => {
    // Without a reset the operating system would keep the unsent bytes for many minutes.
    if (socket.writableLength > 0) return void socket.resetAndDestroy()
    if (exchanges.isBusy(socket)) return
    if (socket.bytesWritten < LARGE_RESPONSE_BYTES) return void socket.destroy()
    // The client may still be reading bytes that the operating system holds, so it gets one more timeout.
    if (bytesAtExtension.get(socket) === socket.bytesWritten) return void socket.resetAndDestroy()
    bytesAtExtension.set(socket, socket.bytesWritten)
    socket.setTimeout(timeoutMs)
  })
}

/** Creates the server for the application and the WebSockets. It does not listen yet. */
export const createHttpServer = (handle: RequestListener, options: HttpServerOptions): Server => {
  const { logger, trustedProxies, waiting, unreadTimeoutMs = UNREAD_TIMEOUT_MS, shouldUpgrade = () => false } = options
  const exchanges = createExchanges((request, response) => {
    const fault = prepareRequest(request)
    if (fault === null) return handle(request, response)
    logger.info({ status: 400, fault }, 'malformed request')
    sendRefusal(response, 400, fault)
  })
  // A pending response would otherwise be written between WebSocket frames.
  const shouldUpgradeCallback = (request: IncomingMessage): boolean =>
    !exchanges.isBusy(request.socket) && prepareRequest(request) === null && shouldUpgrade(request)
  const server = createServer({ ...SERVER_LIMITS, shouldUpgradeCallback }, exchanges.serve)
  answerMalformed(server, exchanges, logger)
  cutUnread(server, exchanges, unreadTimeoutMs)
  limitWaitingConnections(server, exchanges, trustedProxies, waiting)
  return server
}
