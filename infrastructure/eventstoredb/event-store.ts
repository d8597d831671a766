import { setTimeout } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import type { EventStore } from '../../application/ports/event-store.ts'
import type { Logger } from '../../application/ports/environment.ts'
import { systemTimers } from '../process/system-timers.ts'
import { createAppends } from './appends.ts'
import { createCalls } from './calls.ts'
import { channelsOver, loadCertificates } from './nodes/channel.ts'
import { parseConnection, type Connection } from './connection.ts'
import { resolveWithin } from './nodes/addresses.ts'
import { createDiscovery } from './nodes/discovery.ts'
import { createAskTime, createQueryNode, type AskTime } from './nodes/gossip.ts'
import { reasonOf } from './failures.ts'
import { followLeader, type Leader } from './leader.ts'
import { checkAndWriteMark } from './mark/log-format.ts'
import { MARKED_STREAM, type Ownership, watchOwner } from './mark/log-owner.ts'
import { createCallTimeouts, LIMITS, type Limits, type CallTimeouts } from './call-timeouts.ts'
import { createReads } from './reads.ts'
import { followServerClock } from './server-clock.ts'
import { createStreamLimits } from './stream-limits.ts'
import { onServer, withStreamPrefix } from './stream-prefix.ts'
import { createSubscriptions } from './subscriptions.ts'

/** Time for a cluster to elect a leader at start. An election after a frozen leader takes nine seconds. */
const START_MS = 12_000
/** Pause between two attempts at start. */
const START_RETRY_MS = 100

interface Options {
  /** Connection string in the form of the setting EVENTSTORE_URL. */
  readonly url: string
  readonly logger?: Logger
  /** Null: opens the log without writing. Otherwise writes the storage format and this owner into the log's mark. */
  readonly ownership?: Ownership | null
  /** STREAM_PREFIX, for several services on the same servers. */
  readonly prefix?: string | null
  /** Longer timeouts for slow machines. */
  readonly limits?: Limits
}

interface EventStoreDb extends EventStore {
  /** Returns the number of leader changes since the start. */
  readonly leaderChanges: () => number
}

interface Connecting {
  readonly limits: Limits
  readonly timeouts: CallTimeouts
  readonly logger: Logger | undefined
}

interface Servers {
  readonly leader: Leader
  readonly askTime: AskTime
}

const connect = async (connection: Connection, { limits, timeouts, logger }: Connecting): Promise<Servers> => {
  try {
    const certificates = await loadCertificates(connection)
    const { hosts, discovers, credentials } = connection
    const asking = [certificates, credentials, limits.usual] as const
    const discovery = createDiscovery({
      hosts, discovers, timers: systemTimers,
      query: createQueryNode(...asking), resolve: resolveWithin(limits.usual),
    })
    const open = channelsOver(connection, certificates)
    // A new leader gets the usual timeouts, even if the previous leader was silent.
    const onFound = timeouts.answered
    const leader = followLeader({ discovery, open, timers: systemTimers, limit: limits.usual, onFound, logger })
    return { leader, askTime: createAskTime(...asking) }
  } catch (error) {
    throw new Error(`cannot connect to the event store: ${reasonOf(error)}`, { cause: error })
  }
}

/**
 * Opens the event store on EventStoreDB (tested with server 23.10, one node and three nodes). It holds one connection
 * to the leader, so a process should open it only once.
 *
 * Throws an Error with a message for users in three cases: the server cannot be reached, a newer version has written
 * the log, or the log belongs to another process.
 */
export const openEventStoreDb = async (options: Options): Promise<EventStoreDb> => {
  const { url, logger, ownership = null, prefix = null, limits = LIMITS } = options
  const marked = onServer(prefix, MARKED_STREAM)
  const connection = parseConnection(url)
  if (E.isLeft(connection)) throw new Error(`the event store's URL ${connection.left}`)
  const { credentials } = connection.right
  const timeouts = createCallTimeouts(limits)
  const { leader, askTime } = await connect(connection.right, { limits, timeouts, logger })
  const calls = createCalls({ leader, credentials, timeouts })
  const reads = createReads(calls)

  const refuse = (reason: string): never => {
    leader.close()
    throw new Error(reason)
  }
  const starting = AbortSignal.timeout(START_MS)
  const checkMark = async () => {
    await leader.untilKnown(starting)
    return await checkAndWriteMark({ calls, marked, ownership })
  }
  let checked = await checkMark()
  while (E.isLeft(checked)) {
    if (starting.aborted) return refuse(`cannot connect to the event store: ${checked.left.reason}`)
    await setTimeout(START_RETRY_MS)
    checked = await checkMark()
  }
  const { refusal, revision } = checked.right
  if (refusal !== null) return refuse(refusal)

  const closing = new AbortController()
  const watching = ownership === null ? null : watchOwner({ calls, marked, ownership, revision }, closing.signal)
  const clock = await followServerClock(
    { leader, askTime, timers: systemTimers, monotonic: () => performance.now() }, closing.signal,
  )
  const subscribe = createSubscriptions({ connected: leader, timeouts, head: reads.head })
  const parts = { calls, reads, logger }
  const store: EventStore = {
    ...reads,
    append: createAppends(parts),
    ...createStreamLimits(parts),
    // Without a leader, a subscription waits for the election and then starts at once. If it failed instead, its
    // consumer would pause before the next attempt.
    subscribe: async function* (from, prefixes, signal) {
      await leader.untilKnown(signal)
      yield* subscribe(from, prefixes, signal)
    },
    now: clock.now,
    close: async () => {
      closing.abort()
      await Promise.all([watching, clock.stopped])
      leader.close()
    },
  }
  return { ...withStreamPrefix(store, prefix), leaderChanges: leader.changes }
}
