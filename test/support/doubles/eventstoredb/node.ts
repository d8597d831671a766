import { randomUUID } from 'node:crypto'
import type { Metadata } from '@grpc/grpc-js'
import gossip, { type ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js'
import type { EventLog, LogView } from './log/event-log.ts'
import type { Failure } from './rpc/messages.ts'

/** The version of the recorded server. */
export const VERSION = '23.10.6'

export type NodeState = 'Leader' | 'Follower' | 'Unknown' | 'ResigningLeader'

/** A node as another node (or itself) sees it. */
export interface Member {
  readonly state: NodeState
  readonly isAlive: boolean
  readonly port: number
  readonly epoch: number
}

/** The needs of a call. */
export interface CallNeeds {
  readonly isWrite: boolean
  readonly requiresLeader: boolean
}

/** Returns whether the header of a call requires the leader. */
export const requiresLeader = ({ metadata }: { readonly metadata: Metadata }): boolean =>
  metadata.get('requires-leader')[0] === 'true'

/** One node of a cluster, as the handlers of its calls see it. */
export interface ServingNode {
  /** The replicated part of the log. */
  readonly view: LogView
  /** The log of the cluster, for admitted writes. */
  readonly log: EventLog
  /** Null: the call is admitted. The promise may never resolve. */
  readonly admit: (needs: CallNeeds) => Promise<Failure | null>
  /** The members, this node first. */
  readonly members: () => readonly [Member, ...ReadonlyArray<Member>]
  readonly resign: () => void
}

const HOST = '127.0.0.1'

/** A cluster of one node. */
export const onlyNode = (log: EventLog, port: () => number): ServingNode => ({
  view: log,
  log,
  admit: () => Promise.resolve(null),
  members: () => [{ state: 'Leader', isAlive: true, port: port(), epoch: 0 }],
  resign: () => undefined,
})

const { VNodeState } = gossip.MemberInfo

const STATES = {
  Leader: VNodeState.LEADER,
  Follower: VNodeState.FOLLOWER,
  Unknown: VNodeState.UNKNOWN,
  ResigningLeader: VNodeState.RESIGNINGLEADER,
} as const

/** The gossip message of the client's protocol. */
export const gossipMessage = ({ members }: ServingNode): ClusterInfo => {
  const cluster = new gossip.ClusterInfo()
  for (const { state, isAlive, port } of members()) {
    const endPoint = new gossip.EndPoint()
    endPoint.setAddress(HOST)
    endPoint.setPort(port)
    const member = new gossip.MemberInfo()
    member.setState(STATES[state])
    member.setIsAlive(isAlive)
    member.setTimeStamp('0')
    member.setHttpEndPoint(endPoint)
    cluster.addMembers(member)
  }
  return cluster
}

/** The body of `GET /gossip`. The members are sorted by port. */
export const gossipBody = ({ members, view }: ServingNode): unknown => {
  const listed = members().toSorted((a, b) => a.port - b.port)
  return {
    members: listed.map(({ state, isAlive, port, epoch }) => ({
      instanceId: randomUUID(),
      timeStamp: new Date().toISOString(),
      state,
      isAlive,
      httpEndPointIp: HOST,
      httpEndPointPort: port,
      lastCommitPosition: view.records.at(-1)?.position ?? 0,
      writerCheckpoint: view.end(),
      chaserCheckpoint: view.end(),
      epochPosition: 0,
      epochNumber: epoch,
      nodePriority: 0,
      isReadOnlyReplica: false,
      esVersion: `${VERSION}.0`,
    })),
    serverIp: HOST,
    serverPort: members()[0].port,
  }
}

/** The body of `GET /info`. */
export const infoBody = ({ members }: ServingNode, isInsecure: boolean): unknown => ({
  esVersion: `${VERSION}.0`,
  state: members()[0].state.toLowerCase(),
  features: { projections: false, userManagement: !isInsecure, atomPub: false },
  authentication: { type: isInsecure ? 'insecure' : 'internal', properties: null },
})
