import { NotLeaderError, type EventStoreDBClient } from '@eventstore/db-client'
import type { Logger } from '../../application/ports/environment.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { pause } from '../../application/waiting.ts'
import type { Address } from './connection.ts'
import type { Channel, Probe } from './nodes/channel.ts'
import { textOf } from './nodes/addresses.ts'
import type { Candidate, Discovery } from './nodes/discovery.ts'
import { reasonOf, unavailable } from './failures.ts'

/**
 * The connection to the current leader, which changes with an election. Read both members for every call and every
 * subscription. Both throw an Error with the cause StoreUnavailable while there is no known leader.
 */
export interface Connected {
  readonly client: () => EventStoreDBClient
  /** Aborts when the current node stops leading or falls silent. Everything that runs on it must then end. */
  readonly lost: () => AbortSignal
}

export interface Leader extends Connected {
  /** Reports a call on this client that ended without an answer, so the node is probed at once. */
  readonly failed: (client: EventStoreDBClient, error: unknown) => void
  /** Resolves when there is a leader or when the signal aborts. */
  readonly untilKnown: (signal: AbortSignal) => Promise<void>
  /** Returns the address of the leader. Null while there is none. */
  readonly address: () => Address | null
  /** Returns the number of changes to another node, or to another epoch (election) of the same node. */
  readonly changes: () => number
  readonly close: () => void
}

/** Milliseconds between probes of a leader that answers. */
const PROBE_INTERVAL_MS = 1000
/** Milliseconds between searches without a leader, and between probes of a leader with failed calls. */
const SEARCH_INTERVAL_MS = 200
/** A leader is lost after this number of probes without an answer: about three seconds with the usual timeout. */
const MAX_SILENT_PROBES = 4

interface Parts {
  readonly discovery: Discovery
  readonly open: (address: Address) => Channel
  readonly timers: Timers
  /** Timeout of a probe in milliseconds. */
  readonly limit: number
  /** Called when there is a new leader, or a new epoch of the same leader. */
  readonly onFound?: () => void
  readonly logger: Logger | undefined
}

/** A node while it is the known leader. */
interface Leadership extends Candidate {
  readonly channel: Channel
  readonly lost: AbortController
}

/** Whether another node leads in a later epoch. False for the same node: after a new election it keeps its channel. */
const isLater = (candidate: Candidate, present: Candidate): boolean =>
  textOf(candidate.address) !== textOf(present.address) && (candidate.epoch ?? -1) > (present.epoch ?? Infinity)

/**
 * Keeps one channel to the leader. Every second it reads the end of the log from the leader (a probe). A node that
 * refuses the probe is lost at once. A silent node is lost after three seconds, or earlier when another node answers as
 * the leader. Probes are necessary, because no error reports a new leader:
 *
 * - A server checks its role only when a subscription starts.
 * - A follower forwards appends instead of refusing them.
 * - A frozen leader is silent.
 */
export const followLeader = ({ discovery, open, timers, limit, onFound, logger }: Parts): Leader => {
  const closing = new AbortController()
  let leadership: Leadership | null = null
  let searchResult = 'the search has just begun'
  let hasFailedCall = false
  let isProbedOften = false
  let changes = 0
  let lastLeader: string | null = null
  /** Resolved while there is a leader. */
  let found = Promise.withResolvers<void>()
  let resting = new AbortController()

  const current = (): Leadership | null => leadership
  const rest = async (ms: number): Promise<void> => {
    resting = new AbortController()
    await pause(timers, ms, resting.signal)
  }

  const release = (former: Leadership): void => {
    leadership = null
    found = Promise.withResolvers<void>()
    former.lost.abort()
    former.channel.retire()
    resting.abort()
  }

  const lose = (former: Leadership, reason: string): void => {
    searchResult = reason
    release(former)
    const node = textOf(former.address)
    logger?.warn({ node, epoch: former.epoch, reason }, 'the leader of the event store is lost, searching for another')
  }

  const follow = (candidate: Candidate, channel: Channel): void => {
    if (leadership !== null) release(leadership)
    leadership = { ...candidate, channel, lost: new AbortController() }
    onFound?.()
    found.resolve()
    const fields = { node: textOf(candidate.address), epoch: candidate.epoch }
    const leader = JSON.stringify(fields)
    if (lastLeader !== null && leader !== lastLeader) changes += 1
    lastLeader = leader
    logger?.info(fields, 'the event store has a leader')
  }

  /** Returns why a node does not lead. Adds the node that it named to the search. */
  const refusalOf = (probe: Probe): string => {
    if (probe.kind === 'leads') return 'its answer came too late'
    if (probe.kind === 'refuses' && probe.leader !== null) discovery.addNode(probe.leader)
    return probe.reason
  }

  /**
   * Follows the first candidate that answers as the leader and that `mayFollow` accepts. With `present`, it considers
   * only candidates of a later epoch.
   */
  const search = async (
    present: Leadership | null,
    mayFollow?: (candidate: Candidate) => Promise<boolean>,
  ): Promise<void> => {
    const candidates = await discovery.candidates()
    if (candidates.length === 0) searchResult = discovery.problem()
    for (const candidate of candidates) {
      if (closing.signal.aborted || (present !== null && !isLater(candidate, present))) return
      const channel = open(candidate.address)
      const probe = await channel.probe(limit)
      const isAccepted = probe.kind === 'leads' && (await mayFollow?.(candidate)) !== false
      if (isAccepted && !closing.signal.aborted) return follow(candidate, channel)
      channel.retire()
      searchResult = refusalOf(probe)
    }
  }

  const watch = async (present: Leadership): Promise<void> => {
    let silent = 0
    while (!present.lost.signal.aborted) {
      isProbedOften = hasFailedCall
      hasFailedCall = false
      const probing = present.channel.probe(limit)
      // A new channel to the same node ends all subscriptions. So it replaces the old one only if that is silent.
      const mayReplace = async (candidate: Candidate): Promise<boolean> =>
        textOf(candidate.address) !== textOf(present.address) || (await probing).kind !== 'leads'
      // After a silent probe, any node that answers as the leader replaces the present one.
      const [probe]: [Probe, unknown] = await Promise.all([probing, silent === 0 ? null : search(null, mayReplace)])
      if (present.lost.signal.aborted) return
      silent = probe.kind === 'silent' ? silent + 1 : 0
      if (probe.kind === 'refuses' || silent === MAX_SILENT_PROBES) return lose(present, refusalOf(probe))
      if (silent > 0) continue
      // A deposed leader may answer probes for a moment although calls fail, so look for a later epoch.
      if (isProbedOften) await search(present)
      if (!present.lost.signal.aborted)
        await rest(isProbedOften || hasFailedCall ? SEARCH_INTERVAL_MS : PROBE_INTERVAL_MS)
    }
  }

  const step = async (): Promise<void> => {
    if (leadership === null) await search(null)
    const present = current()
    if (present === null) await rest(SEARCH_INTERVAL_MS)
    else await watch(present)
  }

  const run = async (): Promise<void> => {
    while (!closing.signal.aborted)
      try {
        await step()
      } catch (error) {
        logger?.error({ reason: reasonOf(error) }, 'the search for the leader of the event store failed, retrying')
        await rest(SEARCH_INTERVAL_MS)
      }
  }
  void run()

  const known = (): Leadership => {
    if (leadership !== null) return leadership
    const isClosed = closing.signal.aborted
    const reason = isClosed ? 'the event store was closed' : `no leader of the event store was found: ${searchResult}`
    throw new Error(reason, { cause: unavailable(reason) })
  }

  return {
    client: () => known().channel.client,
    lost: () => known().lost.signal,
    failed: (client, error) => {
      if (leadership?.channel.client !== client) return
      if (error instanceof NotLeaderError) {
        const { address: host, port } = error.leader
        return lose(leadership, refusalOf({ kind: 'refuses', reason: reasonOf(error), leader: { host, port } }))
      }
      hasFailedCall = true
      if (!isProbedOften) resting.abort()
    },
    untilKnown: async (signal) => {
      const aborted = Promise.withResolvers<void>()
      signal.addEventListener('abort', () => aborted.resolve(), { once: true })
      if (!signal.aborted) await Promise.race([found.promise, aborted.promise])
    },
    address: () => leadership?.address ?? null,
    changes: () => changes,
    close: () => {
      closing.abort()
      if (leadership !== null) release(leadership)
      found.resolve()
      resting.abort()
    },
  }
}
