import type { Timers } from '../../../application/ports/timers.ts'
import { atMost } from '../../../application/waiting.ts'
import type { Address } from '../connection.ts'
import { textOf, unique, type Resolve } from './addresses.ts'
import type { AskNode, Gossip } from './gossip.ts'

/** A node to be tried as the leader. */
export interface Candidate {
  readonly address: Address
  /** In which it says that it leads; null where it was not asked. */
  readonly epoch: number | null
}

export interface Discovery {
  /** Who may lead now, the likeliest first. Never rejects. */
  readonly candidates: () => Promise<ReadonlyArray<Candidate>>
  /** A node named this one as the leader: it will be asked, no more. */
  readonly hear: (named: Address) => void
}

interface Parts {
  /** Of the connection string. */
  readonly hosts: ReadonlyArray<Address>
  /** Whether the first of them is a name whose numbers are the nodes. */
  readonly discovers: boolean
  readonly ask: AskNode
  readonly resolve: Resolve
  readonly timers: Timers
}

/** Milliseconds that a search waits for answers: a frozen node must not hold up what the others say. */
const WAIT_MS = 400

/**
 * Finds the leader of a cluster by asking every node about itself alone. What nodes say about each other is wrong just
 * when it matters: during an election they still name the one that fell silent. Of several that say they lead the one
 * with the highest epoch is right: a leader that was deposed while it was frozen claims its old one for a moment.
 */
export const createDiscovery = ({ hosts, discovers, ask, resolve, timers }: Parts): Discovery => {
  /** By the nodes that answered last. */
  let named: ReadonlyArray<Address> = []
  /** Kept for a name service that is away. */
  let resolved: ReadonlyArray<Address> = []
  /** Questions without an answer yet, and answers that no search has seen; both by address. */
  const open = new Map<string, Promise<void>>()
  let heard = new Map<string, { readonly address: Address; readonly gossip: Gossip }>()
  const isSingle = hosts.length === 1 && !discovers
  const given: ReadonlyArray<Candidate> = hosts.map((address) => ({ address, epoch: null }))

  const seeds = async (): Promise<ReadonlyArray<Address>> => {
    const [first] = hosts
    if (!discovers || first === undefined) return hosts
    try {
      const numbers = await resolve(first.host)
      resolved = numbers.map((host) => ({ host, port: first.port, alias: first.host }))
    } catch {
      // The numbers of before, and the name itself, may still answer.
    }
    return [...resolved, first]
  }

  const put = async (address: Address): Promise<void> => {
    const gossip = await ask(address)
    if (gossip !== null) heard.set(textOf(address), { address, gossip })
    open.delete(textOf(address))
  }
  /** One that is open is not put again: its answer counts when it comes, since who is found is then asked as the leader. */
  const question = (address: Address): Promise<void> => {
    const asking = open.get(textOf(address)) ?? put(address)
    open.set(textOf(address), asking)
    return asking
  }

  return {
    hear: (address) => {
      named = unique([...named, address])
    },
    candidates: async () => {
      // One host is taken as it is given, until it turns out to be one of several.
      if (isSingle && named.length === 0) return given
      const asked = unique([...(await seeds()), ...named])
      await atMost(timers, WAIT_MS, Promise.all(asked.map(question)))
      const answers = [...heard.values()]
      heard = new Map()
      if (answers.length === 0) return isSingle ? given : []
      named = unique(answers.flatMap(({ gossip }) => gossip.named))
      return answers
        .flatMap(({ address, gossip: { leadsIn } }) => (leadsIn === null ? [] : { address, epoch: leadsIn }))
        .toSorted((one, other) => other.epoch - one.epoch)
    },
  }
}
