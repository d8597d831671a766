import { createReplica, EPOCHS, openEventLog, systemEvent, type EventLog, type Replica } from '../log/event-log.ts'
import type { WriteInLog } from '../log/log-file.ts'
import { forwardTimeout, notLeaderFailure, notReadyFailure, type Failure } from '../rpc/messages.ts'
import type { Member, NodeState, ServingNode, CallNeeds } from '../node.ts'

/** Delays of a cluster in milliseconds. */
export interface Delays {
  /** Time until a new leader is elected after the loss of the old leader. */
  readonly electionAfterKill: number
  readonly electionAfterFreeze: number
  readonly electionAfterResign: number
  /** Time until a leader notices that it has no quorum. */
  readonly refusalAfterKill: number
  readonly refusalAfterFreeze: number
  /** Time until a leader is elected after the quorum is back. */
  readonly electionAfterReturn: number
  /** Time for which a replaced leader still reports to be the leader before it ends. */
  readonly claim: number
  /** Time until a follower abandons an append that it forwarded without a leader. */
  readonly forwarding: number
}

export const REAL_DELAYS: Delays = {
  electionAfterKill: 1100,
  electionAfterFreeze: 9000,
  electionAfterResign: 500,
  refusalAfterKill: 3400,
  refusalAfterFreeze: 7500,
  electionAfterReturn: 1500,
  claim: 500,
  forwarding: 5000,
}

/** The reason for the absence of a node. A `cut` node is reachable by clients only. */
export type Absence = 'killed' | 'frozen' | 'cut'

/** The state of one node. */
interface NodeRecord {
  readonly index: number
  readonly replica: Replica
  /** The number of writes of the log that it has. */
  applied: number
  state: NodeState
  epoch: number
  absence: Absence | null
  /** The other nodes as this node saw them before its absence. */
  lastSeen: ReadonlyArray<Member>
  /** Another node leads, and this node has not noticed it. */
  isDeposed: boolean
  /** The other nodes have noticed its absence. */
  isMissed: boolean
  /** Writes that it accepted as leader and that no quorum has. */
  waiting: ReadonlyArray<() => void>
}

export interface ClusterParts {
  readonly file: string
  /** The ports of the nodes. They may be filled in later, before the first call. */
  readonly ports: ReadonlyArray<number>
  readonly delays: Delays
  /** Called when a node ends on its own. */
  readonly onEnd: (index: number) => void
}

export interface Cluster {
  readonly nodes: ReadonlyArray<ServingNode>
  /** The index of the leader with a quorum; null while there is none. */
  readonly leader: () => number | null
  /** Returns whether the node answers clients. */
  readonly isServing: (index: number) => boolean
  readonly leave: (index: number, absence: Absence) => void
  /** Ends an absence. A leader that was replaced during a freeze claims to be the leader for a while, then ends. */
  readonly comeBack: (index: number) => void
  readonly dispose: () => void
}

const HOST = '127.0.0.1'

/** Creates nodes that replicate one log. The first node leads. Their behaviour was recorded on three real nodes. */
export const createCluster = ({ file, ports, delays, onEnd }: ClusterParts): Cluster => {
  const history: WriteInLog[] = []
  const nodes = ports.map((_, index): NodeRecord => ({
    index,
    replica: createReplica(),
    applied: 0,
    state: index === 0 ? 'Leader' : 'Follower',
    epoch: 0,
    absence: null,
    lastSeen: [],
    isDeposed: false,
    isMissed: false,
    waiting: [],
  }))
  let lastLeader = 0
  let nextChange: NodeJS.Timeout | undefined
  const otherTimers = new Set<NodeJS.Timeout>()
  const later = (ms: number, act: () => void): void => {
    const timer = setTimeout(() => {
      otherTimers.delete(timer)
      act()
    }, ms)
    otherTimers.add(timer)
  }

  const voters = (): ReadonlyArray<NodeRecord> =>
    nodes.filter(({ absence, isDeposed }) => absence === null && !isDeposed)
  const hasQuorum = (): boolean => voters().length * 2 > nodes.length
  const leading = (): NodeRecord | undefined =>
    hasQuorum() ? voters().find(({ state }) => state === 'Leader') : undefined

  const replicate = (): void => {
    for (const node of voters()) {
      const missing = history.slice(node.applied)
      node.applied = history.length
      for (const write of missing) node.replica.add(write, true)
    }
  }
  const log: EventLog = openEventLog(file, (write) => {
    history.push(write)
    replicate()
  })

  const takeWaiting = (): void => {
    const leader = leading()
    if (leader === undefined) return
    const taken = leader.waiting
    leader.waiting = []
    for (const take of taken) take()
  }
  const elect = (): void => {
    const candidate = voters().find(({ state }) => state !== 'ResigningLeader')
    if (candidate === undefined) return
    const epoch = Math.max(...nodes.map((node) => node.epoch)) + 1
    for (const node of nodes) {
      if (node.absence !== null) {
        node.isMissed = true
        node.isDeposed = node.state === 'Leader'
        node.waiting = []
      } else if (!node.isDeposed) [node.state, node.epoch] = ['Follower', epoch]
      if (node !== candidate) node.waiting = []
    }
    candidate.state = 'Leader'
    lastLeader = candidate.index
    replicate()
    log.write(EPOCHS, log.last(EPOCHS) + 1n, [systemEvent(EPOCHS, '{}')])
    takeWaiting()
  }
  const loseQuorum = (): void => {
    for (const node of nodes) {
      if (node.absence !== null) node.isMissed = true
      else if (node.state === 'Leader') node.state = 'Unknown'
    }
  }
  /** Schedules the next change after an event: an election, the loss of the quorum, or the waiting writes. */
  const plan = (toElection: number, toRefusal: number): void => {
    clearTimeout(nextChange)
    if (!hasQuorum()) nextChange = setTimeout(loseQuorum, toRefusal)
    else if (leading() === undefined) nextChange = setTimeout(elect, toElection)
    else takeWaiting()
  }

  const admit = async (node: NodeRecord, { isWrite, requiresLeader }: CallNeeds): Promise<Failure | null> => {
    if (node.state === 'Leader')
      return !isWrite || leading() === node
        ? null
        : new Promise((resolve) => {
            node.waiting = [...node.waiting, () => resolve(null)]
          })
    if (!isWrite && !requiresLeader) return null
    if (node.state !== 'Follower') return notReadyFailure()
    if (requiresLeader) return notLeaderFailure({ host: HOST, port: ports[lastLeader] ?? 0 })
    if (leading() !== undefined && node.absence === null) return null
    return new Promise((resolve) => {
      later(delays.forwarding, () => resolve(forwardTimeout()))
    })
  }
  const memberSeen = (node: NodeRecord, isAlive: boolean): Member => ({
    state: !isAlive && node.state === 'Leader' ? 'Unknown' : node.state,
    isAlive,
    port: ports[node.index] ?? 0,
    epoch: node.epoch,
  })
  const members = (node: NodeRecord): readonly [Member, ...ReadonlyArray<Member>] => {
    const rest = nodes
      .filter((other) => other !== node)
      .map((other) => memberSeen(other, other.absence === null || !other.isMissed))
    const isAlive = node.state === 'Leader'
    return [
      memberSeen(node, true),
      ...(node.absence === null ? rest : node.lastSeen.map((member) => ({ ...member, isAlive }))),
    ]
  }
  const resign = (node: NodeRecord): void => {
    if (leading() !== node) return
    node.state = 'ResigningLeader'
    plan(delays.electionAfterResign, delays.refusalAfterKill)
  }

  const leave = (node: NodeRecord, absence: Absence): void => {
    const [, ...lastSeen] = members(node)
    node.lastSeen = lastSeen
    node.absence = absence
    if (absence === 'killed') plan(delays.electionAfterKill, delays.refusalAfterKill)
    else plan(delays.electionAfterFreeze, delays.refusalAfterFreeze)
    if (absence === 'cut')
      later(delays.refusalAfterFreeze, () => {
        if (node.absence === 'cut') node.state = 'Unknown'
      })
  }
  const end = (node: NodeRecord): void => {
    node.isDeposed = false
    node.absence = 'killed'
    onEnd(node.index)
  }
  const comeBack = (node: NodeRecord): void => {
    const { absence } = node
    node.absence = null
    node.isMissed = false
    if (absence === 'frozen' && node.isDeposed) return later(delays.claim, () => end(node))
    node.isDeposed = false
    if (absence !== 'frozen') node.state = leading() === undefined ? 'Unknown' : 'Follower'
    node.epoch = leading()?.epoch ?? node.epoch
    replicate()
    plan(delays.electionAfterReturn, delays.refusalAfterKill)
  }
  const nodeAt = (index: number): NodeRecord => {
    const node = nodes[index]
    if (node === undefined) throw new Error(`unknown node ${index}`)
    return node
  }

  return {
    nodes: nodes.map((node) => ({
      view: node.replica,
      log,
      admit: (needs) => admit(node, needs),
      members: () => members(node),
      resign: () => resign(node),
    })),
    leader: () => leading()?.index ?? null,
    isServing: (index) => nodeAt(index).absence === null || nodeAt(index).absence === 'cut',
    leave: (index, absence) => leave(nodeAt(index), absence),
    comeBack: (index) => comeBack(nodeAt(index)),
    dispose: () => {
      clearTimeout(nextChange)
      for (const timer of otherTimers) clearTimeout(timer)
    },
  }
}
