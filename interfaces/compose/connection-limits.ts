import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { clientAddress } from '../http/client-address.ts'

/** S20, S38: connections of one address that have neither a finished request nor a finished handshake. */
const UNSETTLED_PER_ADDRESS = 200
/** Descriptors for stores, models, requests and processes. */
const KEPT_DESCRIPTORS = 256
/** Where the system tells no limit. */
const MOST_SOCKETS = 65_536

const BODY = JSON.stringify({ detail: 'Too many requests' })
const REFUSAL =
  'HTTP/1.1 429 Too Many Requests\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\n' +
  `Content-Length: ${BODY.length}\r\nRetry-After: 15\r\nCache-Control: no-store\r\n\r\n${BODY}`

interface ConnectionLimits {
  /** Its handshake is finished; refused ones are closed and need no word. */
  readonly settled: (socket: Duplex) => void
}

/** Refuses connections of addresses that hold too many open without asking anything; slow ones go by the server's own timeouts. */
export const limitConnections = (server: Server): ConnectionLimits => {
  const unsettled = new Map<string, number>()
  const settle = new WeakMap<Duplex, () => void>()

  const change = (address: string, by: number): number => {
    const count = (unsettled.get(address) ?? 0) + by
    if (count === 0) unsettled.delete(address)
    else unsettled.set(address, count)
    return count
  }

  server.on('connection', (socket: Socket) => {
    const address = clientAddress(socket.remoteAddress)
    if (change(address, 1) > UNSETTLED_PER_ADDRESS) {
      change(address, -1)
      socket.on('error', () => undefined)
      socket.end(REFUSAL, () => socket.destroy())
      return
    }
    const settled = (): void => {
      if (settle.delete(socket)) change(address, -1)
    }
    settle.set(socket, settled)
    socket.once('close', settled)
  })
  server.on('request', ({ socket }, response) => response.once('finish', () => settle.get(socket)?.()))
  return { settled: (socket) => settle.get(socket)?.() }
}

/** Sockets that may be open at once, so that REST still finds a descriptor (S38). */
export const mostSockets = (): number => {
  try {
    const limit = Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1])
    return Number.isInteger(limit) ? Math.max(Math.floor(limit / 4), limit - KEPT_DESCRIPTORS) : MOST_SOCKETS
  } catch {
    return MOST_SOCKETS
  }
}
