import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import type { Line } from './faults.ts'
import { createReader, type Request } from './wire.ts'

export interface Connection {
  readonly socket: Socket
  readonly member: number
  /** The addresses of all members at the door of this connection. */
  readonly hosts: ReadonlyArray<string>
}

/** The port of one member at a door. */
interface Entrance {
  readonly member: number
  readonly sockets: Set<Socket>
  port: number
  listener: Server | null
  /** The state of the network between the client and this member. */
  line: Line
}

interface DoorsOptions {
  readonly size: number
  /** The state of the network at the member, for all clients. */
  readonly lineOf: (member: number) => Line
  /** Called with each request of a client. */
  readonly take: (connection: Connection, request: Request) => void
}

const listening = async (listener: Server, port: number): Promise<number> => {
  listener.listen(port, '127.0.0.1')
  await once(listener, 'listening')
  return (listener.address() as AddressInfo).port
}

/**
 * Creates doors: sets of ports of the members, one for each client that a test cuts off separately. A client learns
 * only the ports of its door, as with the split horizons of MongoDB. A silent line holds all data until it is open.
 */
export const createDoors = ({ size, lineOf, take }: DoorsOptions) => {
  const doors = new Map<string, ReadonlyArray<Entrance>>()
  let connections = 0

  const lineAt = ({ member, line }: Entrance): Line => {
    const both = [line, lineOf(member)]
    return both.includes('closed') ? 'closed' : both.includes('silent') ? 'silent' : 'open'
  }

  const adjust = (socket: Socket, line: Line): void => {
    if (line === 'closed') socket.destroy()
    else if (line === 'silent') {
      socket.pause()
      socket.cork()
    } else {
      // Corks nest, so uncork as often as cork was called.
      while (socket.writableCorked > 0) socket.uncork()
      socket.resume()
    }
  }

  const greet = (door: string, entrance: Entrance, socket: Socket): void => {
    const read = createReader()
    connections += 1
    entrance.sockets.add(socket)
    socket.setNoDelay(true)
    const connection = { socket, member: entrance.member, hosts: hostsOf(door) }
    socket.on('data', (chunk) => {
      for (const request of read(chunk)) if (!socket.destroyed) take(connection, request)
    })
    socket.on('error', () => socket.destroy())
    socket.on('close', () => entrance.sockets.delete(socket))
    adjust(socket, lineAt(entrance))
  }

  const open = async (door: string, entrance: Entrance): Promise<void> => {
    const listener = createServer((socket) => greet(door, entrance, socket))
    entrance.listener = listener
    entrance.port = await listening(listener, entrance.port)
  }

  const hostsOf = (door: string): ReadonlyArray<string> =>
    (doors.get(door) ?? []).map(({ port }) => `127.0.0.1:${port}`)

  const refresh = async (): Promise<void> => {
    for (const [door, entrances] of doors)
      for (const entrance of entrances) {
        const line = lineAt(entrance)
        for (const socket of entrance.sockets) adjust(socket, line)
        if (line === 'closed') {
          entrance.listener?.close()
          entrance.listener = null
        } else if (entrance.listener === null) await open(door, entrance)
      }
  }

  return {
    /** Returns the ports of a door. Creates the door if it does not exist. */
    ports: async (door: string, ports: ReadonlyArray<number> = []): Promise<ReadonlyArray<number>> => {
      const existing = doors.get(door)
      const entrances = existing ?? Array.from({ length: size }, (_, member): Entrance =>
        ({ member, sockets: new Set(), port: ports[member] ?? 0, listener: null, line: 'open' }))
      doors.set(door, entrances)
      if (existing === undefined) await Promise.all(entrances.map((entrance) => open(door, entrance)))
      return entrances.map(({ port }) => port)
    },
    cut: async (door: string, line: Line, members: ReadonlyArray<number>): Promise<void> => {
      for (const entrance of doors.get(door) ?? []) if (members.includes(entrance.member)) entrance.line = line
      await refresh()
    },
    /** Applies changes of `lineOf`. */
    refresh,
    connections: (): number => connections,
  }
}
