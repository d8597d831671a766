import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { rawAnswer } from './raw-answer.ts'

/** Requests that a connection may send ahead of their answers. */
const MOST_AHEAD = 16
/** Milliseconds in which a client may read the last answer; a connection with unread bytes would be reset at once. */
const LINGER_MS = 1000

export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** The requests of each connection, answered one after another. */
export interface Exchanges {
  /** Takes a request of the server. */
  readonly serve: RequestListener
  /** The newest request of a connection, answered or not. */
  readonly latest: (socket: Socket) => Exchange | undefined
  /** Is any request of it unanswered? */
  readonly isBusy: (socket: Socket) => boolean
  /**
   * Ends a connection with this answer, after those that it still owes. The answer is left out where it would stand
   * behind the beginning of another one to the same request.
   */
  readonly endWith: (socket: Socket, answer: string) => void
}

/**
 * Answers the requests of a connection in turn: the next one is handled once the answer before it has been handed to
 * the system, so that a client that reads nothing keeps one answer in memory and no more.
 */
export const createExchanges = (handle: RequestListener, mostAhead = MOST_AHEAD): Exchanges => {
  const queues = new WeakMap<Socket, Array<Exchange>>()
  const newest = new WeakMap<Socket, Exchange>()
  const ending = new WeakSet<Socket>()

  const queueOf = (socket: Socket): Array<Exchange> => {
    const queue = queues.get(socket) ?? []
    queues.set(socket, queue)
    return queue
  }

  /** Nothing is done for a request whose answer could not be sent, and one that broke off has its answer already. */
  const handleFirst = (socket: Socket): void => {
    const [first] = queueOf(socket)
    if (first === undefined || !socket.writable || (ending.has(socket) && !first.request.complete)) return
    handle(first.request, first.response)
  }

  const say = (socket: Socket, answer: string): void => {
    socket.on('error', () => undefined)
    socket.end(answer)
    socket.resume()
    setTimeout(() => socket.destroy(), LINGER_MS).unref()
  }

  const endWith = (socket: Socket, answer: string): void => {
    if (ending.has(socket)) return
    ending.add(socket)
    const last = newest.get(socket)
    const about = last === undefined || last.request.complete ? null : last
    const owed = queueOf(socket).findLast((exchange) => exchange !== about)
    const finish = (): void => {
      if (!socket.writable || about?.response.headersSent === true) socket.destroy()
      else say(socket, answer)
    }
    if (owed === undefined) finish()
    else owed.response.once('close', finish)
  }

  const serve: RequestListener = (request, response) => {
    const { socket } = request
    if (ending.has(socket)) return
    const queue = queueOf(socket)
    if (queue.length >= mostAhead) return endWith(socket, rawAnswer(429, 'Too many requests', { 'Retry-After': '1' }))
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
