import type { Socket } from 'node:net'
import type { Server } from 'node:tls'

/**
 * Connections that have not proved the key yet. Above this number the oldest one is closed. Our own processes prove the
 * key within milliseconds, so their connections are never the oldest.
 */
const MAX_UNAUTHENTICATED = 128

const remoteOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`

/** Limits the connections without a proof of the key. Drops the oldest one above `max` and calls `dropped`. */
export const limitUnauthenticated = (server: Server, dropped: () => void, max = MAX_UNAUTHENTICATED): void => {
  const unauthenticated = new Map<string, Socket>()
  server.on('connection', (socket: Socket) => {
    const remote = remoteOf(socket)
    unauthenticated.set(remote, socket)
    socket.once('close', () => {
      if (unauthenticated.get(remote) === socket) unauthenticated.delete(remote)
    })
    const [oldest] = unauthenticated
    if (unauthenticated.size <= max || oldest === undefined) return
    unauthenticated.delete(oldest[0])
    oldest[1].destroy()
    dropped()
  })
  server.on('secureConnection', (socket) => void unauthenticated.delete(remoteOf(socket)))
}
