import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A relay in front of a port of 127.0.0.1, with the network faults that a test can cause. */
export interface TcpProxy {
  readonly port: number
  /** `127.0.0.1:port`. */
  readonly address: string
  /** Holds all bytes in both directions, as a pulled cable does. Connections stay open and notice nothing. */
  readonly cut: () => void
  /** Delivers the held bytes and relays again. */
  readonly mend: () => void
  /** Resets all open connections on both sides. */
  readonly reset: () => void
  /** True: new connections are closed at once. */
  readonly refuse: (isRefusing: boolean) => void
  /** The bytes that clients sent so far, one entry per connection. Empty unless `isRecording`. */
  readonly received: () => ReadonlyArray<Buffer>
  readonly close: () => Promise<void>
}

/** Opens a proxy on a free port. `target`: the port behind it, read for each connection. */
export const openTcpProxy = async (target: () => number, { isRecording = false } = {}): Promise<TcpProxy> => {
  const sockets = new Set<Socket>()
  const recordings: Array<Array<Buffer>> = []
  let isCut = false
  let isRefusing = false

  const relay = (from: Socket, to: Socket): void => {
    sockets.add(from)
    if (isCut) from.pause()
    from.on('data', (data: Buffer) => {
      const isWritable = to.write(data)
      if (isCut || !isWritable) from.pause()
    })
    to.on('drain', () => void (isCut || from.resume()))
    from.on('end', () => void (isCut || to.end()))
    from.on('error', () => undefined)
    from.once('close', () => {
      sockets.delete(from)
      if (!isCut) to.destroy()
    })
  }
  const server = createServer({ allowHalfOpen: true }, (near) => {
    if (isRefusing) return void near.destroy()
    const far = connect({ port: target(), host: '127.0.0.1', allowHalfOpen: true })
    if (isRecording) {
      const recording: Array<Buffer> = []
      recordings.push(recording)
      near.on('data', (data: Buffer) => recording.push(data))
    }
    relay(near, far)
    relay(far, near)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  return {
    port,
    address: `127.0.0.1:${port}`,
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
    refuse: (refusing) => {
      isRefusing = refusing
    },
    received: () => recordings.map((chunks) => Buffer.concat(chunks)),
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

const REQUEST_LINE = /^(?:GET|POST|OPTIONS) \S+/gm

/** Opens a recording proxy in front of the service at `url`. */
export const openHttpProxy = async (url: string) => {
  const proxy = await openTcpProxy(() => Number(new URL(url).port), { isRecording: true })
  return {
    ...proxy,
    url: `http://${proxy.address}`,
    /** Method and path of each request so far, in the order of the connections. */
    requests: (): ReadonlyArray<string> =>
      proxy.received().flatMap((bytes) => bytes.toString('latin1').match(REQUEST_LINE) ?? []),
  }
}
