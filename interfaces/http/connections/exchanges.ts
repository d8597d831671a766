import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { rawResponse } from './raw-response.ts'

/** Requests that a client may send on one connection before it gets the first response. */
const MAX_PIPELINED = 16
/** Time for a client to read the last response. Closing earlier would reset the connection and lose the response. */
const LINGER_MS = 1000

export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** Handles the requests of each connection one after another. */
export interface Exchanges {
  /** Queues a request of the server. */
  readonly serve: RequestListener
  /** The newest request of a connection, finished or not. */
  readonly latest: (socket: Socket) => Exchange | undefined
  /** True while a request of the connection has no complete response. */
  readonly isBusy: (socket: Socket) => boolean
  /**
   * Sends the pending responses, then `lastResponse`, then closes the connection. It skips `lastResponse` if a response
   * to the same request has begun.
   */
  readonly endWith: (socket: Socket, lastResponse: string) => void
}

/**
 * Creates the request queues of all connections. It handles a request only after the operating system has taken the
 * response to the previous request. So a client that reads nothing keeps at most one response in memory.
 */
export const createExchanges = (handle: RequestListener, maxPipelined = MAX_PIPELINED): Exchanges => {
  const queues = new WeakMap<Socket, Array<Exchange>>()
  const newest = new WeakMap<Socket, Exchange>()
  const ending = new WeakSet<Socket>()

  const queueOf = (socket: Socket): Array<Exchange> => {
    const queue = queues.get(socket) ?? []
    queues.set(socket, queue)
    return queue
  }

  /**
   * Handles the first request of the queue. It skips a request whose response cannot be sent, and an incomplete request
   * that `endWith` has answered.
   */
  const handleFirst = (socket: Socket): void => {
    const [first] = queueOf(socket)
    if (first === undefined || !socket.writable || (ending.has(socket) && !first.request.complete)) return
    handle(first.request, first.response)
  }

  const sendAndClose = (socket: Socket, response: string): void => {
    socket.on('error', () => undefined)
    socket.end(response)
    socket.resume()
    setTimeout(() => socket.destroy(), LINGER_MS).unref()
  }

  const endWith = (socket: Socket, lastResponse: string): void => {
    if (ending.has(socket)) return
    ending.add(socket)
    const last = newest.get(socket)
    const incomplete = last === undefined || last.request.complete ? null : last
    const pending = queueOf(socket).findLast((exchange) => exchange !== incomplete)
    const finish = (): void => {
      if (!socket.writable || incomplete?.response.headersSent === true) socket.destroy()
      else sendAndClose(socket, lastResponse)
    }
    if (pending === undefined) finish()
    else pending.response.once('close', finish)
  }

  const serve: RequestListener = (request, response) => {
    const { socket } = request
    if (ending.has(socket)) return
    const queue = queueOf(socket)
    if (queue.length >= maxPipelined)
      return endWith(socket, rawResponse(429, 'Too many requests', { 'Retry-After': '1' }))
    const exchange = { request, response }
    newest.set(socket, exchange)
    queue.push(exchange)
    response.once('close', () => {
      queue.shift()
      handleFirst(socket)
    })
    if (queue.length === 1) handleFirst(socket)
  }

  return { serve, endWith, latest: (socket) => newest.get(socket), isBusy: (socket) => queueOf(socket).length > 0 }
}
