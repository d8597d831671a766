import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/** A way to a service that can be cut; it notes the first line of every request head that it sees. */
export const openLine = async (url: string) => {
  const sockets = new Set<Socket>()
  const heads: Array<string> = []
  let isDown = false
  const server = createServer((near) => {
    if (isDown) return void near.destroy()
    const far = connect(Number(new URL(url).port), '127.0.0.1')
    for (const [socket, other] of [[near, far], [far, near]] as const) {
      sockets.add(socket)
      socket.on('error', () => other.destroy())
      socket.once('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
    near.on('data', (data: Buffer) =>
      heads.push(...(data.toString('latin1').match(/^(?:GET|POST|OPTIONS) \S+/gm) ?? [])))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heads,
    /** While it is down nobody comes through. */
    down: (down: boolean) => {
      isDown = down
    },
    cut: () => sockets.forEach((socket) => socket.destroy()),
    close: () => void server.close(),
  }
}
