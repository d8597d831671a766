import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** The public port of a node. It relays bytes to the server of the node, and it can be frozen and closed. */
export interface Relay {
  readonly port: number
  /** Accepts and keeps connections, but relays nothing, as the kernel does for a stopped process. */
  readonly freeze: () => void
  readonly thaw: () => void
  /** Breaks all connections and refuses new connections. */
  readonly close: () => Promise<void>
  /** Accepts connections again, on the same port. */
  readonly open: () => Promise<void>
}

const listen = async (server: Server, port: number): Promise<void> => {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
}

export const startRelay = async (target: number): Promise<Relay> => {
  const pairs = new Map<Socket, Socket>()
  let isFrozen = false
  const pass = (outer: Socket, inner: Socket): void => {
    outer.pipe(inner)
    inner.pipe(outer)
  }
  const server = createServer((outer) => {
    const inner = connect(target, '127.0.0.1')
    pairs.set(outer, inner)
    for (const [socket, opposite] of [[outer, inner], [inner, outer]] as const)
      socket
        .setNoDelay()
        .on('error', () => undefined)
        .on('close', () => {
          opposite.destroy()
          pairs.delete(outer)
        })
    if (!isFrozen) pass(outer, inner)
  })
  await listen(server, 0)
  const { port } = server.address() as AddressInfo
  return {
    port,
    freeze: () => {
      isFrozen = true
      for (const [outer, inner] of pairs) {
        outer.unpipe(inner).pause()
        inner.unpipe(outer).pause()
      }
    },
    thaw: () => {
      isFrozen = false
      for (const [outer, inner] of pairs) pass(outer, inner)
    },
    close: async () => {
      isFrozen = false
      for (const [outer, inner] of pairs) {
        outer.resetAndDestroy()
        inner.destroy()
      }
      if (server.listening) await new Promise((resolve) => server.close(resolve))
    },
    open: async () => {
      if (!server.listening) await listen(server, port)
    },
  }
}
