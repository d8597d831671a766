import { join } from 'node:path'
import { temporaryDirectory } from '../temporary-directory.ts'
import { createCluster, REAL_DELAYS, type Absence, type Delays } from './cluster.ts'
import { createFaults } from './faults.ts'
import { startRelay, type Relay } from './relay.ts'
import { startServer, type RunningServer, type ServerOptions } from './server.ts'

/** Three nodes in this process, each behind a port of its own; named by 0, 1 and 2. */
export interface ClusterDouble {
  /** Connection string that names all nodes. */
  readonly url: string
  readonly ports: ReadonlyArray<number>
  /** The node that leads and has a quorum; null while there is none. */
  readonly leader: () => number | null
  readonly kill: (node: number) => Promise<void>
  /** Starts a node that was killed or ended itself, on its data and port. */
  readonly start: (node: number) => Promise<void>
  readonly freeze: (node: number) => void
  readonly thaw: (node: number) => void
  /** Cuts a node off from the others; clients still reach it. */
  readonly isolate: (node: number) => void
  readonly rejoin: (node: number) => void
  /** What `POST /admin/node/resign` does. */
  readonly resign: (node: number) => void
  readonly dispose: () => Promise<void>
}

interface ClusterSettings extends Partial<Pick<ServerOptions, 'tls' | 'account'>> {
  /** What to change of the times that real nodes took. */
  readonly delays?: Partial<Delays>
}

const SIZE = 3

/** Starts three nodes with an empty log; the first leads. */
export const startCluster = async ({ tls = null, account = null, delays = {} }: ClusterSettings = {}): Promise<ClusterDouble> => {
  const directory = await temporaryDirectory()
  const ports: number[] = Array.from({ length: SIZE }, () => 0)
  const relays: Relay[] = []
  const servers: RunningServer[] = []
  const cluster = createCluster({
    file: join(directory.path, 'log'),
    ports,
    delays: { ...REAL_DELAYS, ...delays },
    onEnd: (index) => void relays[index]?.close(),
  })
  for (const [index, node] of cluster.nodes.entries()) {
    const server = await startServer({ node: () => node, faults: createFaults(), port: 0, tls, account })
    servers.push(server)
    const relay = await startRelay(server.port)
    relays.push(relay)
    ports[index] = relay.port
  }
  const relayOf = (node: number): Relay => {
    const relay = relays[node]
    if (relay === undefined) throw new Error(`there is no node ${node}`)
    return relay
  }
  const leave = (absence: Absence) => (node: number): void => cluster.leave(node, absence)
  return {
    url: `esdb://${ports.map((port) => `127.0.0.1:${port}`).join(',')}?tls=${tls !== null}`,
    ports,
    leader: cluster.leader,
    kill: async (node) => {
      leave('killed')(node)
      await relayOf(node).close()
    },
    start: async (node) => {
      await relayOf(node).open()
      cluster.comeBack(node)
    },
    freeze: (node) => {
      relayOf(node).freeze()
      leave('frozen')(node)
    },
    thaw: (node) => {
      cluster.comeBack(node)
      relayOf(node).thaw()
    },
    isolate: leave('cut'),
    rejoin: cluster.comeBack,
    resign: (node) => cluster.nodes[node]?.resign(),
    dispose: async () => {
      cluster.dispose()
      await Promise.all(relays.map((relay) => relay.close()))
      await Promise.all(servers.map((server) => server.close()))
      await directory.remove()
    },
  }
}
