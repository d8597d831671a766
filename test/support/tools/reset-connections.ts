import { connect, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'

/** Connections that a client resets. */
export interface Resets {
  /** A port of 127.0.0.1, the path of a socket, or a function that opens a connection. */
  readonly to: number | string | (() => Socket)
  /** Bytes that the client sends before the reset. */
  readonly bytes: (index: number) => string
  readonly count: number
  /** Connections at the same time. */
  readonly parallel?: number
}

const opened = (to: Resets['to']): Socket => {
  if (typeof to === 'function') return to()
  return typeof to === 'string' ? connect(to) : connect(to, '127.0.0.1')
}

const resetOne = (to: Resets['to'], bytes: string): Promise<void> =>
  new Promise((resolve) => {
    const socket = opened(to)
    // Only a TCP connection can be reset, so others are destroyed.
    const canReset = typeof to !== 'string' && !(socket instanceof TLSSocket)
    const drop = (): void => void (canReset ? socket.resetAndDestroy() : socket.destroy())
    socket.on('error', () => undefined).once('close', () => resolve())
    socket.once('connect', () => {
      if (bytes === '') drop()
      else socket.write(bytes, 'latin1', drop)
    })
  })

/** Opens `count` connections, sends the bytes of each and resets it at once. Resolves when all are closed. */
export const resetConnections = async ({ to, bytes, count, parallel = 50 }: Resets): Promise<void> => {
  const indexes = Array.from({ length: count }, (_, index) => index).values()
  await Promise.all(Array.from({ length: parallel }, async () => {
    for (const index of indexes) await resetOne(to, bytes(index))
  }))
}
