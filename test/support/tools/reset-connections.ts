import { connect } from 'node:net'

/** Connections that a client resets. `to`: a port of 127.0.0.1, or the path of a socket. */
export interface Resets {
  readonly to: number | string
  /** Bytes that the client sends before the reset. */
  readonly bytes: (index: number) => string
  readonly count: number
  /** Connections at the same time. */
  readonly parallel?: number
}

const resetOne = (to: number | string, bytes: string): Promise<void> =>
  new Promise((resolve) => {
    const socket = typeof to === 'string' ? connect(to) : connect(to, '127.0.0.1')
    // A socket in the file system cannot be reset, so it is destroyed.
    const drop = (): void => void (typeof to === 'string' ? socket.destroy() : socket.resetAndDestroy())
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
