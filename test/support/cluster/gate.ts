import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/** A TCP relay between one process and one peer, which can be cut. */
export interface Gate {
  readonly port: number
  /** Connections stay open and carry nothing in either direction, as where a cable is pulled; new ones neither. */
  readonly cut: () => void
  /** All connections of the time of the cut are reset, and new ones carry again. */
  readonly mend: () => void
  readonly close: () => Promise<void>
}

/** In front of a port of this machine. */
export const openGate = async (target: () => number): Promise<Gate> => {
  const sockets = new Set<Socket>()
  let isCut = false
  const keep = (socket: Socket): Socket => {
    sockets.add(socket)
    return socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
  }
  const server = createServer({ pauseOnConnect: true }, (near) => {
    keep(near)
    const far = keep(connect({ host: '127.0.0.1', port: target() }))
    for (const [one, other] of [[near, far], [far, near]] as const) {
      one.on('data', (bytes) => {
        if (isCut) return
        if (!other.write(bytes)) one.pause()
      })
      other.on('drain', () => one.resume())
      one.on('end', () => void (isCut || other.end()))
      one.on('close', () => void (isCut || other.destroy()))
    }
    near.resume()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      isCut = true
    },
    mend: () => {
      isCut = false
      for (const socket of sockets) socket.resetAndDestroy()
    },
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
