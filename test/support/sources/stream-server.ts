import { createServer, type AddressInfo, type Socket } from 'node:net'
import type { ExecutionContext } from 'ava'

/** A TCP server of a streaming protocol. */
export interface StreamServer {
  readonly port: number
  readonly url: (path: string) => string
  /** The requests so far, in order. */
  readonly requests: ReadonlyArray<string>
  readonly stop: () => Promise<void>
}

/** Listens on a loopback address until the test ends. `converse` handles one connection and records its requests. */
export const listenForStream = async (
  t: ExecutionContext,
  scheme: string,
  host: string,
  converse: (socket: Socket, requests: Array<string>) => void,
  wantedPort = 0,
): Promise<StreamServer> => {
  const requests: Array<string> = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => sockets.delete(socket))
    converse(socket, requests)
  })
  await new Promise<void>((resolve) => server.listen(wantedPort, host, resolve))
  const { port } = server.address() as AddressInfo
  const stop = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    for (const socket of sockets) socket.destroy()
    await closed
  }
  t.teardown(stop)
  return { port, url: (path) => `${scheme}://${host}:${port}/${path}`, requests, stop }
}
