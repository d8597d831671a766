import { createServer } from 'node:https'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { Duplex } from 'node:stream'
import * as E from 'fp-ts/lib/Either.js'
import { WebSocketServer } from 'ws'
import type { WebSocket } from 'ws'
import type { Logger } from '../../application/ports/environment.ts'
import type { FromWorker, LinkHandler } from '../../application/ports/peers/live-links.ts'
import type { Self } from '../../application/ports/peers/members.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { atMost } from '../../application/waiting.ts'
import { messageOf } from '../../domain/shared/message-of.ts'
import { advertisedAddress } from './address.ts'
import { endAnswer, endQuestion, readJson } from './end-request.ts'
import { createLinkEnd, SOCKET_OPTIONS } from './link-end.ts'
import { decodeToWorker } from './messages.ts'
import { findAsked } from './paths.ts'
import type { Asked } from './paths.ts'
import { preSharedKey } from './pre-shared-key.ts'
import { createRareWarnings } from './rare-warnings.ts'
import { boundUnproved } from './unproved.ts'

/** Who does not prove the key by then is no member. */
const HANDSHAKE_MS = 5000
/** For what is under way when the port closes. */
const CLOSING_MS = 4000

const LIMITS = {
  handshakeTimeout: HANDSHAKE_MS, headersTimeout: 2000, requestTimeout: 5000, connectionsCheckingInterval: 1000,
  keepAliveTimeout: 1000, maxHeaderSize: 4096,
} as const

export interface InternalServerOptions {
  readonly host: string
  /** 0: any that is free. */
  readonly port: number
  /** What others dial, where that is not `host` and `port`; null where it is. */
  readonly url: string | null
  readonly masterKey: Uint8Array
  readonly self: Self
  readonly handler: LinkHandler
  readonly logger: Logger
  readonly timers: Timers
}

export interface InternalServer {
  /** `host:port` that others dial. */
  readonly address: string
  /** That is listened on. */
  readonly port: number
  /** Takes nothing new and closes the links behind what was sent; ends under way are answered, within 4 s. */
  readonly close: () => Promise<void>
}

/** The port on which the processes of one master key reach the lives that run here. Rejects where it cannot be bound. */
export const openInternalServer = async (options: InternalServerOptions): Promise<InternalServer> => {
  const { host, port, url, masterKey, self, handler, logger, timers } = options
  const warnings = createRareWarnings(logger, timers)
  const links = new Set<{ readonly close: () => void }>()
  let isClosing = false

  const upgrader = new WebSocketServer({ ...SOCKET_OPTIONS, noServer: true, clientTracking: false })

  const openLink = (socket: WebSocket, liveId: number, from: string): void => {
    const end = createLinkEnd({
      socket,
      peer: from,
      decode: decodeToWorker,
      message: (message) => guarded(() => hears.message(message)),
      closed: (why) => {
        links.delete(end)
        logger.info({ liveId, from, why }, 'a link ended')
        guarded(() => hears.closed())
      },
      unknown: (kind) => warnings.warn('a link brought a message of a kind that this version does not know', { from, kind }),
      timers,
    })
    /** A defect of one live must not end the others. */
    const guarded = (task: () => void): void => {
      try {
        task()
      } catch (error) {
        logger.error({ liveId, error: messageOf(error) }, 'a link failed')
        end.cut('it failed here')
      }
    }
    let hears: ReturnType<LinkHandler['open']> = { message: () => undefined, closed: () => undefined }
    links.add(end)
    guarded(() => {
      hears = handler.open(liveId, { send: (message: FromWorker) => end.send(message), buffered: end.buffered, close: end.close })
    })
  }

  /** What is asked, or the status that refuses it. */
  const judge = (request: IncomingMessage, what: Asked['what'], method: string): Asked | number => {
    const asked = findAsked(request.url ?? '')
    if (asked === null || asked.what !== what || request.method !== method) return 404
    if (asked.incarnation !== self.incarnation) return 409
    return isClosing ? 503 : asked
  }

  const end = async (request: IncomingMessage): Promise<{ readonly status: number; readonly body: unknown }> => {
    const asked = judge(request, 'end', 'POST')
    if (typeof asked === 'number') return { status: asked, body: null }
    const question = endQuestion.decode(await readJson(request).catch(() => null))
    if (E.isLeft(question)) return { status: 400, body: null }
    const ended = await handler.end({ liveId: asked.liveId, end: question.right.end })
    return { status: 200, body: endAnswer.encode({ ended }) }
  }

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { status, body } = await end(request).catch((error: unknown) => {
      logger.error({ error: messageOf(error) }, 'the end of a live that another process asked for failed')
      return { status: 500, body: null }
    })
    response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(JSON.stringify(body))
  }

  const server = createServer({ ...preSharedKey(masterKey).server, ...LIMITS }, (request, response) => void answer(request, response))
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => undefined)
    const asked = judge(request, 'link', 'GET')
    if (typeof asked === 'number') return void socket.end(`HTTP/1.1 ${asked} No\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
    const from = `${request.socket.remoteAddress}:${request.socket.remotePort}`
    upgrader.handleUpgrade(request, socket, head, (opened) => openLink(opened, asked.liveId, from))
  })
  const refused = (why: string, from: string | undefined): void =>
    warnings.warn('a connection to the internal port was refused', { why, ...(from === undefined ? {} : { from }) })
  server.on('tlsClientError', (error, socket) => refused('code' in error ? String(error.code) : error.message, socket.remoteAddress))
  server.on('clientError', (error, socket) => {
    refused(error.message, 'remoteAddress' in socket ? String(socket.remoteAddress) : undefined)
    socket.destroy()
  })
  boundUnproved(server, () => refused('too many that have not proved the key', undefined))

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
    throw new Error(`${JSON.stringify(url)} is no address that other processes could dial`)
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
