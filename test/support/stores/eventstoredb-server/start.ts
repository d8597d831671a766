/** Starts a real EventStoreDB of one or three nodes (see README.md). */
import { randomInt } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { EVENTSTORE_FOLDER, EVENTSTORE_NODES } from '../chosen-stores.ts'
import { eventually } from '../../tools/eventually.ts'
import { temporaryDirectory } from '../../tools/temporary-directory.ts'
import { makeCertificates } from './certificates.ts'
import { ADMIN, createNode, type EventStoreNode } from './node.ts'

export interface EventStoreServer {
  /** The connection string of all nodes. */
  readonly url: string
  readonly nodes: ReadonlyArray<EventStoreNode>
  /** The directory of its data. */
  readonly directory: string
  /** The node that reports to be the leader; undefined while there is none. */
  readonly leader: () => Promise<EventStoreNode | undefined>
  /** Waits until one node leads and all others follow. */
  readonly untilHealthy: () => Promise<void>
  /** Ends the nodes and deletes their data. */
  readonly dispose: () => Promise<void>
}

/** Options for a small server on a busy machine: little memory, a slow heartbeat. */
const SMALL_SERVER = [
  '--run-projections=None', '--stream-info-cache-capacity=10000', '--cached-chunks=-1', '--chunks-cache-size=67109120',
  '--stream-existence-filter-size=10000', '--max-mem-table-size=100000', '--stats-period-sec=300',
  '--replication-heartbeat-timeout=2500',
]

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })

/** Chooses ports below the range of outgoing connections, so the port of a killed node stays free. */
const freePorts = async (count: number): Promise<ReadonlyArray<number>> => {
  const found = new Set<number>()
  while (found.size < count) {
    const port = randomInt(10_000, 32_000)
    if (await isFree(port)) found.add(port)
  }
  return [...found]
}

interface ServerOptions {
  readonly nodes?: number
  /** Further options of each node, such as `--chunk-size=4194304`. */
  readonly args?: ReadonlyArray<string>
}

/** Starts a separate server with an empty log. When it does not start, the error contains the output of its nodes. */
export const startEventStoreServer = async ({
  nodes: count = EVENTSTORE_NODES,
  args = [],
}: ServerOptions = {}): Promise<EventStoreServer> => {
  const program = join(EVENTSTORE_FOLDER ?? '', 'EventStore.ClusterNode')
  if (!existsSync(program))
    throw new Error(`STENOLOG_TEST_EVENTSTORE_BIN must be a folder with EventStore.ClusterNode: ${EVENTSTORE_FOLDER}`)
  const directory = await temporaryDirectory()
  await mkdir(join(directory.path, 'trusted'))
  const certificates = count === 1 ? null : await makeCertificates(directory.path)
  const authority = certificates && (await readFile(certificates.authority, 'utf8'))
  const ports = await freePorts(2 * count)
  const clientPorts = ports.slice(0, count)

  const nodes = clientPorts.map((port, index) => {
    const folder = join(directory.path, `node-${index + 1}`)
    const others = clientPorts.filter((other) => other !== port).map((other) => `127.0.0.1:${other}`)
    const security = certificates === null ? ['--insecure'] : [
      `--certificate-file=${certificates.certificate}`, `--certificate-private-key-file=${certificates.key}`,
      `--trusted-root-certificates-path=${join(directory.path, 'trusted')}`,
    ]
    const gossip = [`--cluster-size=${count}`, '--discover-via-dns=false', `--gossip-seed=${others.join()}`]
    const placement = [
      '--node-ip=127.0.0.1', `--node-port=${port}`,
      '--replication-ip=127.0.0.1', `--replication-port=${ports[count + index]}`,
      `--db=${join(folder, 'db')}`, `--log=${join(folder, 'log')}`,
    ]
    const options = [...placement, ...security, ...(count === 1 ? [] : gossip), ...SMALL_SERVER, ...args]
    return createNode({ program, port, authority, folder, args: options })
  })
  const dispose = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.kill()))
    await directory.remove()
  }
  const leader = async (): Promise<EventStoreNode | undefined> => {
    const states = await Promise.all(nodes.map((node) => node.state()))
    return nodes[states.indexOf('leader')]
  }
  const untilHealthy = (): Promise<void> =>
    eventually(async () => {
      const states = await Promise.all(nodes.map((node) => node.state()))
      const [leaders, followers] = ['leader', 'follower'].map((name) => states.filter((state) => state === name).length)
      if (leaders !== 1 || followers !== count - 1) throw new Error(`the nodes are ${states.join()}`)
      // An empty log has no accounts for a moment.
      for (const node of nodes) {
        const { status } = await node.ask('GET', '/info/options')
        if (status !== 200) throw new Error(`the administrator gets status ${status}`)
      }
    }, { timeoutMs: 240_000 })
  try {
    await Promise.all(nodes.map((node) => node.start()))
    await untilHealthy()
  } catch (error) {
    await dispose()
    throw error
  }
  const account = certificates === null ? '' : `${ADMIN.username}:${ADMIN.password}@`
  const security = certificates === null ? 'tls=false' : `tls=true&tlsCAFile=${certificates.authority}`
  return {
    url: `esdb://${account}${nodes.map(({ address }) => address).join()}?${security}`,
    nodes,
    directory: directory.path,
    leader,
    untilHealthy,
    dispose,
  }
}
