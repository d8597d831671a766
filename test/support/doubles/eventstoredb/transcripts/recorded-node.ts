import type { EventStoreNode } from '../../../stores/eventstoredb-server/node.ts'

/** One of the three nodes. */
export interface RecordedNode extends Pick<EventStoreNode, 'address' | 'ask'> {
  readonly url: string
  readonly freeze: () => unknown
  readonly thaw: () => unknown
  readonly kill: () => unknown
  /** Returns whether the node has ended on its own. Default: it no longer answers. */
  readonly hasEnded?: () => Promise<boolean>
}

/** The answer of `/gossip`. */
export interface Gossip {
  readonly members: ReadonlyArray<{
    readonly state: string
    readonly isAlive: boolean
    readonly httpEndPointPort: number
    readonly epochNumber: number
  }>
}
