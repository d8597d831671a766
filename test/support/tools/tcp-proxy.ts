import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/** The way to a port of 127.0.0.1, as a network may treat it. */
export interface TcpProxy {
  readonly address: string
  /** Nothing passes from now on, and nobody is told. */
  readonly cut: () => void
  /** What waited passes, and new connections do. */
  readonly mend: () => void
  /** Connections that stand are reset on both sides. */
  readonly reset: () => void
  /** Everything that a connection brought so far, one entry a connection. */
  readonly heard: () => ReadonlyArray<Buffer>
  readonly close: () => void
}

/** Opens one on a free port of the loopback address. */
export const openTcpProxy = async (port: number): Promise<TcpProxy> => {
  const sockets = new Set<Socket>()
  const recorded: Array<Array<Buffer>> = []
  let isCut = false
  const pass = (from: Socket, to: Socket): void => {
    sockets.add(from)
    if (isCut) from.pause()
    from.on('data', (data: Buffer) => {
      to.write(data)
      if (isCut) from.pause()
    })
    from.on('end', () => void (isCut || to.end()))
    from.on('error', () => undefined)
    from.once('close', () => {
      sockets.delete(from)
      if (!isCut) to.destroy()
    })
  }
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    const heard: Array<Buffer> = []
    recorded.push(heard)
    near.on('data', (data: Buffer) => heard.push(data))
    pass(near, far)
    pass(far, near)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut: () => {
      isCut = true
      for (const socket of sockets) socket.pause()
    },
    mend: () => {
      isCut = false
      for (const socket of sockets) socket.resume()
    },
    reset: () => {
      for (const socket of sockets) socket.resetAndDestroy()
    },
    heard: () => recorded.map((chunks) => Buffer.concat(chunks)),
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
