import { createServer } from 'node:https'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { Duplex } from 'node:stream'
import * as E from 'fp-ts/lib/Either.js'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Logger } from '../../application/ports/environment.ts'
import type { FromWorker, LinkHandler } from '../../application/ports/live-links.ts'
import type { Self } from '../../application/ports/members.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { atMost } from '../../application/waiting.ts'
import { messageOf } from '../../domain/shared/message-of.ts'
import { advertisedAddress } from './address.ts'
import { endRequest, endResponse, readJson } from './session-end-request.ts'
import { createLinkEndpoint, SOCKET_OPTIONS } from './link-endpoint.ts'
import { decodeToWorker } from './messages.ts'
import { parsePath, type Target } from './paths.ts'
import { preSharedKey } from './pre-shared-key.ts'
import { createThrottledWarnings } from './throttled-warnings.ts'
import { limitUnauthenticated } from './unauthenticated-connections.ts'

/** Time for a connection to prove the key. */
const HANDSHAKE_MS = 5000
/** Time for open requests and links when the port closes. */
const CLOSING_MS = 4000

const LIMITS = {
  handshakeTimeout: HANDSHAKE_MS, headersTimeout: 2000, requestTimeout: 5000, connectionsCheckingInterval: 1000,
  keepAliveTimeout: 1000, maxHeaderSize: 4096,
} as const

export interface InternalServerOptions {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** `host:port` that other processes dial; null: `host` and `port`. */
  readonly url: string | null
  readonly masterKey: Uint8Array
  readonly self: Self
  readonly handler: LinkHandler
  readonly logger: Logger
  readonly timers: Timers
}

export interface InternalServer {
  /** `host:port` that other processes dial. */
  readonly address: string
  readonly port: number
  /** Refuses new requests, sends pending messages, closes the links and answers open requests, within 4 s. */
  readonly close: () => Promise<void>
}

/**
 * Opens the port on which processes with the same master key reach the sessions of this process. Rejects when the port
 * cannot be bound.
 */
export const openInternalServer = async (options: InternalServerOptions): Promise<InternalServer> => {
  const { host, port, url, masterKey, self, handler, logger, timers } = options
  const warnings = createThrottledWarnings(logger, timers)
  const links = new Set<{ readonly close: () => void }>()
  let isClosing = false

  const upgrader = new WebSocketServer({ ...SOCKET_OPTIONS, noServer: true, clientTracking: false })

  const openLink = (socket: WebSocket, liveId: number, from: string): void => {
    const endpoint = createLinkEndpoint({
      socket,
      peer: from,
      decode: decodeToWorker,
      message: (message) => guarded(() => session.message(message)),
      closed: (why) => {
        links.delete(endpoint)
        logger.info({ liveId, from, why }, 'a link ended')
        guarded(() => session.closed())
      },
      unknown: (kind) => warnings.warn('a link received a message of an unknown kind', { from, kind }),
      timers,
    })
    /** A defect in one session must not end the others. */
    const guarded = (task: () => void): void => {
      try {
        task()
      } catch (error) {
        logger.error({ liveId, error: messageOf(error) }, 'a link failed')
        endpoint.cut('an error occurred in this process')
      }
    }
    let session: ReturnType<LinkHandler['open']> = { message: () => undefined, closed: () => undefined }
    links.add(endpoint)
    guarded(() => {
      const send = (message: FromWorker): void => endpoint.send(message)
      session = handler.open(liveId, { send, buffered: endpoint.buffered, close: endpoint.close })
    })
  }

  /** Returns the target of a request, or the HTTP status of its refusal. */
  const targetOf = (request: IncomingMessage, action: Target['action'], method: string): Target | number => {
    const target = parsePath(request.url ?? '')
    if (target === null || target.action !== action || request.method !== method) return 404
    if (target.incarnation !== self.incarnation) return 409
    return isClosing ? 503 : target
  }

  const endSession = async (request: IncomingMessage): Promise<{ readonly status: number; readonly body: unknown }> => {
    const target = targetOf(request, 'end', 'POST')
    if (typeof target === 'number') return { status: target, body: null }
    const body = endRequest.decode(await readJson(request).catch(() => null))
    if (E.isLeft(body)) return { status: 400, body: null }
    const ended = await handler.end({ liveId: target.liveId, end: body.right.end })
    return { status: 200, body: endResponse.encode({ ended }) }
  }

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { status, body } = await endSession(request).catch((error: unknown) => {
      logger.error({ error: messageOf(error) }, 'ending a session for another process failed')
      return { status: 500, body: null }
    })
    response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(JSON.stringify(body))
  }

  const tlsOptions = { ...preSharedKey(masterKey).server, ...LIMITS }
  const server = createServer(tlsOptions, (request, response) => void answer(request, response))
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => undefined)
    const target = targetOf(request, 'link', 'GET')
    if (typeof target === 'number')
      return void socket.end(`HTTP/1.1 ${target} No\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
    const from = `${request.socket.remoteAddress}:${request.socket.remotePort}`
    upgrader.handleUpgrade(request, socket, head, (opened) => openLink(opened, target.liveId, from))
  })
  const warnRefused = (why: string, from: string | undefined): void =>
    warnings.warn('a connection to the internal port was refused', { why, ...(from === undefined ? {} : { from }) })
  server.on('tlsClientError', (error, socket) => {
    warnRefused('code' in error ? String(error.code) : error.message, socket.remoteAddress)
  })
  server.on('clientError', (error, socket) => {
    warnRefused(error.message, 'remoteAddress' in socket ? String(socket.remoteAddress) : undefined)
    socket.destroy()
  })
  limitUnauthenticated(server, () => warnRefused('too many connections without a proof of the key', undefined))

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  server.on('error', (error) => logger.error({ error: error.message }, 'the internal port failed'))
  const bound = (server.address() as AddressInfo).port
  const address = advertisedAddress(url, { host, port: bound }, networkInterfaces())
  if (address === null) {
    server.close()
    throw new Error(`STENOLOG_INTERNAL_URL should be host:port, not ${JSON.stringify(url)}`)
  }

  return {
    address,
    port: bound,
    close: async () => {
      isClosing = true
      warnings.close()
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const link of links) link.close()
      await atMost(timers, CLOSING_MS, closed)
      server.closeAllConnections()
      await closed
    },
  }
}
