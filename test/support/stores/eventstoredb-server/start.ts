/**
 * A real EventStoreDB for the tests, of one node or several: `STENOLOG_TEST_EVENTSTORE_BIN` names the folder of its
 * executable, which no part of the repository holds; `STENOLOG_TEST_EVENTSTORE_NODES` how many nodes (1). Several show
 * each other certificates and let their administrator in, one has neither TLS nor accounts.
 */
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
  /** Connection string of all its nodes. */
  readonly url: string
  readonly nodes: ReadonlyArray<EventStoreNode>
  /** Holds its data. */
  readonly directory: string
  /** The node that calls itself leader now; undefined while there is none. */
  readonly leader: () => Promise<EventStoreNode | undefined>
  /** Waits until there is one leader and all others follow it. */
  readonly untilHealthy: () => Promise<void>
  /** Ends its nodes and removes their data. */
  readonly dispose: () => Promise<void>
}

/** As few resources as one test needs; the heartbeat is that of a machine that is short of processor time. */
const MODEST = [
  '--run-projections=None', '--stream-info-cache-capacity=10000', '--cached-chunks=-1', '--chunks-cache-size=67109120',
  '--stream-existence-filter-size=10000', '--max-mem-table-size=100000', '--stats-period-sec=300', '--replication-heartbeat-timeout=2500',
]

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })

/** Below those that the kernel gives to connections, so that a node that was killed finds its own free. */
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

/** Starts a server of its own with an empty log. Throws what its nodes said last where it does not start. */
export const startEventStoreServer = async ({
  nodes: count = EVENTSTORE_NODES,
  args = [],
}: ServerOptions = {}): Promise<EventStoreServer> => {
  const program = join(EVENTSTORE_FOLDER ?? '', 'EventStore.ClusterNode')
  if (!existsSync(program)) throw new Error(`STENOLOG_TEST_EVENTSTORE_BIN should be the folder of EventStore.ClusterNode, not ${EVENTSTORE_FOLDER}`)
  const directory = await temporaryDirectory()
  await mkdir(join(directory.path, 'trusted'))
  const certificates = count === 1 ? null : await makeCertificates(directory.path)
  const authority = certificates && (await readFile(certificates.authority, 'utf8'))
  const ports = await freePorts(2 * count)
  const ofClients = ports.slice(0, count)

  const nodes = ofClients.map((port, index) => {
    const folder = join(directory.path, `node-${index + 1}`)
    const others = ofClients.filter((other) => other !== port).map((other) => `127.0.0.1:${other}`)
    const security = certificates === null ? ['--insecure'] : [
      `--certificate-file=${certificates.certificate}`, `--certificate-private-key-file=${certificates.key}`,
      `--trusted-root-certificates-path=${join(directory.path, 'trusted')}`,
    ]
    const cluster = count === 1 ? [] : [`--cluster-size=${count}`, '--discover-via-dns=false', `--gossip-seed=${others.join()}`]
    const own = [
      '--node-ip=127.0.0.1', `--node-port=${port}`, '--replication-ip=127.0.0.1', `--replication-port=${ports[count + index]}`,
      `--db=${join(folder, 'db')}`, `--log=${join(folder, 'log')}`,
    ]
    return createNode({ program, port, authority, folder, args: [...own, ...security, ...cluster, ...MODEST, ...args] })
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
      // A fresh log has no accounts for a moment.
      for (const node of nodes) {
        const { status } = await node.ask('GET', '/info/options')
        if (status !== 200) throw new Error(`the administrator is answered ${status}`)
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
