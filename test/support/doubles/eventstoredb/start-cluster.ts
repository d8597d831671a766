import { request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { join } from 'node:path'
import type { EventStoreNode } from '../../stores/eventstoredb-server/node.ts'
import { temporaryDirectory } from '../../tools/temporary-directory.ts'
import { createCluster, REAL_DELAYS, type Absence, type Cluster, type Delays } from './cluster/cluster.ts'
import { createFaults } from './faults.ts'
import type { ServingNode } from './node.ts'
import { startRelay, type Relay } from './cluster/relay.ts'
import { startServer, type RunningServer, type ServerOptions } from './server.ts'

/** A node with the methods of a real node in tests (EventStoreNode), and with `isolate`, which a real node lacks. */
export interface DoubleNode extends Omit<EventStoreNode, 'restarts'> {
  /** The connection string of this node only. */
  readonly url: string
  /** Cuts the node off from the other nodes. Clients still reach it. */
  readonly isolate: () => void
  readonly rejoin: () => void
}

/** Three nodes in this process, each with its own port. A node that ends on its own stays down until it is started. */
export interface ClusterDouble {
  /** The connection string of all nodes. */
  readonly url: string
  readonly nodes: ReadonlyArray<DoubleNode>
  /** The leader with a quorum; undefined while there is none. */
  readonly leader: () => DoubleNode | undefined
  readonly dispose: () => Promise<void>
}

interface ClusterSettings extends Partial<Pick<ServerOptions, 'tls' | 'account'>> {
  /** Delays that differ from those of real nodes. */
  readonly delays?: Partial<Delays>
}

const SIZE = 3

interface NodeParts {
  readonly cluster: Cluster
  readonly index: number
  readonly relay: Relay
  readonly node: ServingNode
  readonly isSecure: boolean
  readonly account: string | null
}

const doubleNode = ({ cluster, index, relay, node, isSecure, account }: NodeParts): DoubleNode => {
  const address = `127.0.0.1:${relay.port}`
  const ask = (method: string, path: string): Promise<{ readonly status: number; readonly text: string }> =>
    new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port: relay.port, path, method, agent: false, auth: account }
      const request = isSecure ? tlsRequest({ ...options, rejectUnauthorized: false }) : plainRequest(options)
      request.once('error', reject).once('response', (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part: string) => (text += part))
        response.once('error', reject).once('end', () => resolve({ status: response.statusCode ?? 0, text }))
      })
      request.end()
    })
  const leave = (absence: Absence) => (): void => cluster.leave(index, absence)
  const comeBack = (): void => cluster.comeBack(index)
  return {
    address,
    url: `esdb://${account === null ? '' : `${account}@`}${address}?tls=${isSecure}`,
    ask,
    state: () => Promise.resolve(cluster.isServing(index) ? node.members()[0].state.toLowerCase() : null),
    epoch: () => Promise.resolve(Math.max(...node.members().map(({ epoch }) => epoch))),
    resign: () => Promise.resolve(node.resign()),
    kill: async () => {
      leave('killed')()
      await relay.close()
    },
    start: async () => {
      await relay.open()
      comeBack()
    },
    freeze: () => {
      relay.freeze()
      leave('frozen')()
    },
    thaw: () => {
      comeBack()
      relay.thaw()
    },
    isolate: leave('cut'),
    rejoin: comeBack,
  }
}

/** Starts three nodes with an empty log. The first node leads. */
export const startDoubleCluster = async ({
  tls = null,
  account = null,
  delays = {},
}: ClusterSettings = {}): Promise<ClusterDouble> => {
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
  const nodes: DoubleNode[] = []
  for (const [index, node] of cluster.nodes.entries()) {
    const server = await startServer({ node: () => node, faults: createFaults(), port: 0, tls, account })
    const relay = await startRelay(server.port)
    servers.push(server)
    relays.push(relay)
    ports[index] = relay.port
    nodes.push(doubleNode({ cluster, index, relay, node, isSecure: tls !== null, account }))
  }
  const login = account === null ? '' : `${account}@`
  return {
    url: `esdb://${login}${nodes.map(({ address }) => address).join()}?tls=${tls !== null}`,
    nodes,
    leader: () => nodes[cluster.leader() ?? SIZE],
    dispose: async () => {
      cluster.dispose()
      await Promise.all(relays.map((relay) => relay.close()))
      await Promise.all(servers.map((server) => server.close()))
      await directory.remove()
    },
  }
}
