import { setTimeout } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import type { EventStore } from '../../application/ports/event-store.ts'
import type { Logger } from '../../application/ports/environment.ts'
import { systemTimers } from '../node/system-timers.ts'
import { createAppends } from './appends.ts'
import { createCalls } from './calls.ts'
import { channelsOver, loadCertificates } from './nodes/channel.ts'
import { parseConnection, type Connection } from './connection.ts'
import { resolveWithin } from './nodes/addresses.ts'
import { createDiscovery } from './nodes/discovery.ts'
import { askOver } from './nodes/gossip.ts'
import { reasonOf } from './failures.ts'
import { followLeader, type Leader } from './leader.ts'
import { agreeOnMark } from './mark/log-format.ts'
import { MARKED_STREAM, watchOwner } from './mark/log-owner.ts'
import type { Ownership } from './mark/log-owner.ts'
import { createPatience, LIMITS, type Limits, type Patience } from './patience.ts'
import { createReads } from './reads.ts'
import { createStreamLimits } from './stream-limits.ts'
import { onServer, withStreamPrefix } from './stream-prefix.ts'
import { createSubscriptions } from './subscriptions.ts'

/** A cluster that is just choosing its leader gets this long at start: after a freeze that takes nine seconds. */
const START_MS = 12_000

interface Options {
  /** Connection string, as the setting EVENTSTORE_URL takes it. */
  readonly url: string
  readonly logger?: Logger
  /** Of who appends: it writes the format and itself into the log's mark. Without it, opening the log writes nothing. */
  readonly ownership?: Ownership | null
  /** STREAM_PREFIX: the log is one of several on these servers. */
  readonly prefix?: string | null
  /** For a machine on which everything takes longer. */
  readonly limits?: Limits
}

interface EventStoreDb extends EventStore {
  /** How often another node was found to lead. */
  readonly leaderChanges: () => number
}

interface Connecting {
  readonly limits: Limits
  readonly patience: Patience
  readonly logger: Logger | undefined
}

const connect = async (connection: Connection, { limits, patience, logger }: Connecting): Promise<Leader> => {
  try {
    const certificates = await loadCertificates(connection)
    const { hosts, discovers } = connection
    const discovery = createDiscovery({ hosts, discovers, ask: askOver(certificates, limits.usual), resolve: resolveWithin(limits.usual), timers: systemTimers })
    const open = channelsOver(connection, certificates)
    // What another node left unanswered says nothing of this one.
    const onFound = patience.answered
    return followLeader({ discovery, open, timers: systemTimers, limit: limits.usual, onFound, logger })
  } catch (error) {
    throw new Error(`the event store cannot be used: ${reasonOf(error)}`, { cause: error })
  }
}

/**
 * The event store on EventStoreDB (tried with server 23.10, one node and three). One for a process: it holds one
 * connection, to the node that leads. Throws an Error for people when the server cannot be reached a newer version has
 * written the log, or it is another's.
 */
export const openEventStoreDb = async (options: Options): Promise<EventStoreDb> => {
  const { url, logger, ownership = null, prefix = null, limits = LIMITS } = options
  const marked = onServer(prefix, MARKED_STREAM)
  const connection = parseConnection(url)
  if (E.isLeft(connection)) throw new Error(`the event store's URL ${connection.left}`)
  const { credentials } = connection.right
  const patience = createPatience(limits)
  const leader = await connect(connection.right, { limits, patience, logger })
  const calls = createCalls({ leader, credentials, patience })
  const reads = createReads(calls)

  const refuse = (reason: string): never => {
    leader.close()
    throw new Error(reason)
  }
  const starting = AbortSignal.timeout(START_MS)
  const look = async () => {
    await leader.known(starting)
    return await agreeOnMark({ calls, marked, ownership })
  }
  let agreed = await look()
  while (E.isLeft(agreed)) {
    if (starting.aborted) return refuse(`the event store cannot be used: ${agreed.left.reason}`)
    await setTimeout(100)
    agreed = await look()
  }
  const { refusal, revision } = agreed.right
  if (refusal !== null) return refuse(refusal)

  const closing = new AbortController()
  const watching = ownership === null ? null : watchOwner({ calls, marked, ownership, revision }, closing.signal)
  const subscribe = createSubscriptions({ connected: leader, patience, head: reads.head })
  const parts = { calls, reads, logger }
  const whole: EventStore = {
    ...reads,
    append: createAppends(parts),
    ...createStreamLimits(parts),
    // A feed that begins while nobody leads begins as soon as somebody does, not after its consumer's next pause.
    subscribe: async function* (from, prefixes, signal) {
      await leader.known(signal)
      yield* subscribe(from, prefixes, signal)
    },
    close: async () => {
      closing.abort()
      await watching
      leader.close()
    },
  }
  return { ...withStreamPrefix(whole, prefix), leaderChanges: leader.changes }
}
