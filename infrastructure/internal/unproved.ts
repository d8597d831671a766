import type { Socket } from 'node:net'
import type { Server } from 'node:tls'

/** A connection of a member proves the key in milliseconds, so it is among the newest of them until it has. */
const MOST_UNPROVED = 128

const placeOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`

/** Bounds the connections that have not proved the key: of more than `most` the oldest is dropped, told to `dropped`. */
export const boundUnproved = (server: Server, dropped: () => void, most = MOST_UNPROVED): void => {
  const unproved = new Map<string, Socket>()
  server.on('connection', (socket: Socket) => {
    const place = placeOf(socket)
    unproved.set(place, socket)
    socket.once('close', () => {
      if (unproved.get(place) === socket) unproved.delete(place)
    })
    const [oldest] = unproved
    if (unproved.size <= most || oldest === undefined) return
    unproved.delete(oldest[0])
    oldest[1].destroy()
    dropped()
  })
  server.on('secureConnection', (socket) => void unproved.delete(placeOf(socket)))
}
