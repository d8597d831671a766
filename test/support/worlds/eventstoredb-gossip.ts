import { createServer } from 'node:http'
import type { ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { Timers } from '../../../application/ports/timers.ts'
import type { Address } from '../../../infrastructure/eventstoredb/connection.ts'
import { readGossip, type QueryNode } from '../../../infrastructure/eventstoredb/nodes/gossip.ts'
import { listen } from '../tools/listen.ts'

export interface EventStoreDbNode {
  state: string
  epoch: number
  isReadOnlyReplica?: boolean
  /** Accepts requests and never answers. */
  isFrozen?: boolean
  /** The state that the node reports for the other nodes. Default: their real state. */
  stateOfOthers?: string
}

/** Returns the answer of node number `asked` to GET /gossip, with the members that a client reads. */
export const gossipAnswer = (
  nodes: ReadonlyArray<EventStoreDbNode>,
  asked: number,
  addressOf: (index: number) => Address,
): string => {
  const own = addressOf(asked)
  const members = nodes.map((node, index) => ({
    instanceId: '1', isAlive: true, httpEndPointIp: addressOf(index).host, httpEndPointPort: addressOf(index).port,
    state: index === asked ? node.state : (nodes[asked]?.stateOfOthers ?? node.state),
    epochNumber: node.epoch, isReadOnlyReplica: node.isReadOnlyReplica ?? false,
  }))
  return JSON.stringify({ members, serverIp: own.host, serverPort: own.port })
}

/** Creates a cluster that answers without a network. */
export const createGossipCluster = (...nodes: ReadonlyArray<EventStoreDbNode>) => {
  const addressOf = (index: number): Address => ({ host: `node${index}`, port: 2113 })
  const query: QueryNode = async ({ host }) => {
    const index = Number(host.slice(4))
    const node = nodes[index]
    if (node === undefined || node.isFrozen === true) return E.left('frozen')
    return E.right(readGossip(gossipAnswer(nodes, index, addressOf)))
  }
  return { nodes, addressOf, query }
}

/** Starts one HTTP server per node on 127.0.0.1. They end with the test. */
export const startGossipServers = async (
  t: ExecutionContext,
  ...nodes: ReadonlyArray<EventStoreDbNode>
): Promise<ReadonlyArray<Address>> => {
  const addresses: Address[] = []
  for (const [index, node] of nodes.entries()) {
    const server = createServer((request, response) => {
      if (node.isFrozen === true || request.url !== '/gossip') return
      const body = gossipAnswer(nodes, index, (member) => addresses[member] as Address)
      response.setHeader('content-type', 'application/json').end(body)
    })
    addresses.push(addressFrom(await listen(t, server)))
  }
  return addresses
}

export const addressFrom = (url: string): Address => {
  const { hostname: host, port } = new URL(url)
  return { host, port: Number(port) }
}

/** Resolves no host name. */
export const resolveNothing = async (): Promise<never> => Promise.reject(new Error('unknown host name'))

/** Timers that never fire, so a search waits for every answer. */
export const waitForAll: Timers = { after: () => () => undefined }
