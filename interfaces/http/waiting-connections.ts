import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { clientAddress } from './client-address.ts'

/** S20, S38. */
const MAX_WAITING = 200

/** There is no request to answer yet. */
const BODY = JSON.stringify({ detail: 'Too many requests' })
const REFUSAL =
  'HTTP/1.1 429 Too Many Requests\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\n' +
  `Content-Length: ${BODY.length}\r\nRetry-After: 15\r\nCache-Control: no-store\r\n\r\n${BODY}`

/**
 * Refuses connections of an address beyond `most` that have not yet brought a whole request or handshake: whoever opens
 * many and says nothing must not use up the descriptors of all others. A connection that has brought one counts no more.
 */
export const limitWaitingConnections = (server: Server, most = MAX_WAITING): void => {
  const waiting = new Map<string, number>()
  const release = new WeakMap<Socket, () => void>()

  server.on('connection', (socket: Socket) => {
    const address = clientAddress(socket.remoteAddress)
    const others = waiting.get(address) ?? 0
    if (others >= most) {
      socket.on('error', () => undefined)
      socket.end(REFUSAL, () => socket.destroy())
      return
    }
    waiting.set(address, others + 1)
    const done = (): void => {
      if (!release.delete(socket)) return
      const left = (waiting.get(address) ?? 1) - 1
      if (left > 0) waiting.set(address, left)
      else waiting.delete(address)
    }
    release.set(socket, done)
    socket.once('close', done)
  })
  server.on('request', (request, response) => {
    const done = (): void => release.get(request.socket)?.()
    const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers
    if (length === '0' && encoding === undefined) return done()
    request.once('end', done)
    response.once('close', done)
  })
  // What becomes of a handshake is the socket server's to say; it has been sent whole.
  server.on('upgrade', (request) => release.get(request.socket)?.())
}
