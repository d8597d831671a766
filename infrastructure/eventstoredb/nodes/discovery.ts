import * as E from 'fp-ts/lib/Either.js'
import type { Timers } from '../../../application/ports/timers.ts'
import { atMost } from '../../../application/waiting.ts'
import type { Address } from '../connection.ts'
import { textOf, unique, type Resolve } from './addresses.ts'
import type { QueryNode, Gossip } from './gossip.ts'

export interface Candidate {
  readonly address: Address
  /** The epoch (number of an election) in which the node says that it leads; null: it was not queried. */
  readonly epoch: number | null
}

export interface Discovery {
  /** Returns the nodes that may lead now, the most likely one first. Never rejects. */
  readonly candidates: () => Promise<ReadonlyArray<Candidate>>
  /** Returns why the last search found no candidate, with the cause of each node, for operators. */
  readonly problem: () => string
  /** Adds a node that another node named as the leader. The next search queries it, too. */
  readonly addNode: (named: Address) => void
}

interface Parts {
  /** Hosts of the connection string. */
  readonly hosts: ReadonlyArray<Address>
  /** Whether the first host is a DNS name whose IP addresses are the nodes. */
  readonly discovers: boolean
  readonly query: QueryNode
  readonly resolve: Resolve
  readonly timers: Timers
}

/** Time that a search waits for answers, so a frozen node does not delay it. */
const WAIT_MS = 400

/**
 * Finds the leader of a cluster by querying every node about itself. The nodes' reports about each other are wrong
 * during an election: they still name the leader that fell silent.
 *
 * Two nodes may claim to lead: a leader that was frozen does not know at once that another one was elected. Then the
 * higher epoch (number of an election) wins.
 */
export const createDiscovery = ({ hosts, discovers, query, resolve, timers }: Parts): Discovery => {
  /** Nodes that the last answers named. */
  let named: ReadonlyArray<Address> = []
  /** The last resolved addresses, for times when DNS is unavailable. */
  let resolved: ReadonlyArray<Address> = []
  /** Requests without an answer, by address. */
  const pending = new Map<string, Promise<void>>()
  /** Answers that no search has used, by address. */
  let answers = new Map<string, { readonly address: Address; readonly gossip: Gossip }>()
  /** The result of the last request to each node, for operators, by address. */
  const results = new Map<string, string>()
  let searched: ReadonlyArray<Address> = hosts
  const isSingle = hosts.length === 1 && !discovers
  const configured: ReadonlyArray<Candidate> = hosts.map((address) => ({ address, epoch: null }))

  const seeds = async (): Promise<ReadonlyArray<Address>> => {
    const [first] = hosts
    if (!discovers || first === undefined) return hosts
    try {
      const numbers = await resolve(first.host)
      resolved = numbers.map((host) => ({ host, port: first.port, alias: first.host }))
    } catch {
      // The addresses resolved earlier, and the name itself, may still answer.
    }
    return [...resolved, first]
  }

  const queryAndKeep = async (address: Address): Promise<void> => {
    const name = textOf(address)
    const answer = await query(address)
    if (E.isRight(answer)) answers.set(name, { address, gossip: answer.right })
    results.set(name, E.isRight(answer) ? 'does not lead' : answer.left)
    pending.delete(name)
  }
  /** Does not repeat a pending request. Its late answer counts in the next search; the probe then checks the node. */
  const queryOnce = (address: Address): Promise<void> => {
    const querying = pending.get(textOf(address)) ?? queryAndKeep(address)
    pending.set(textOf(address), querying)
    return querying
  }

  return {
    problem: () => {
      const causes = searched.map(textOf).map((node) => `${node}: ${results.get(node) ?? 'no answer'}`)
      return `no node says that it leads (${causes.join('; ')})`
    },
    addNode: (address) => {
      named = unique([...named, address])
    },
    candidates: async () => {
      // A single host needs no search until it names other nodes.
      if (isSingle && named.length === 0) return configured
      searched = unique([...(await seeds()), ...named])
      await atMost(timers, WAIT_MS, Promise.all(searched.map(queryOnce)))
      const received = [...answers.values()]
      answers = new Map()
      if (received.length === 0) return isSingle ? configured : []
      named = unique(received.flatMap(({ gossip }) => gossip.named))
      return received
        .flatMap(({ address, gossip: { leadsIn } }) => (leadsIn === null ? [] : { address, epoch: leadsIn }))
        .toSorted((a, b) => b.epoch - a.epoch)
    },
  }
}
