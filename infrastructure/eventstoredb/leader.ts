import { NotLeaderError, type EventStoreDBClient } from '@eventstore/db-client'
import type { Logger } from '../../application/ports/environment.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { pause } from '../../application/waiting.ts'
import type { Address } from './connection.ts'
import type { Channel, Look } from './nodes/channel.ts'
import { textOf } from './nodes/addresses.ts'
import type { Candidate, Discovery } from './nodes/discovery.ts'
import { reasonOf, unavailable } from './failures.ts'

/**
 * The connection to the node that leads now, which is another one after an election: asked for anew with every call and
 * every subscription. Both throw an Error whose cause is StoreUnavailable while nobody is known to lead.
 */
export interface Connected {
  readonly client: () => EventStoreDBClient
  /** Aborts when the node that `client` gives now leads no longer, or fell silent: what runs on it is to end. */
  readonly lost: () => AbortSignal
}

export interface Leader extends Connected {
  /** A call on this client ended without an answer: whether its node still leads is looked at now. */
  readonly failed: (client: EventStoreDBClient, error: unknown) => void
  /** Resolves once somebody leads, or with the signal. */
  readonly known: (signal: AbortSignal) => Promise<void>
  /** How often another node, or the same one in another epoch, was found to lead. */
  readonly changes: () => number
  readonly close: () => void
}

/** Milliseconds between two looks at a leader that answers. */
const LOOK_EVERY_MS = 1000
/** Milliseconds between two searches while nobody leads, and two looks at a leader whose calls go unanswered. */
const SEARCH_EVERY_MS = 200
/** Looks without an answer after which a leader is given up: with the usual limit about three seconds. */
const SILENT_LOOKS = 4

interface Parts {
  readonly discovery: Discovery
  readonly open: (address: Address) => Channel
  readonly timers: Timers
  /** Milliseconds for a look. */
  readonly limit: number
  /** Called when another node, or the same one anew, leads. */
  readonly onFound?: () => void
  readonly logger: Logger | undefined
}

/** A node from when it was found to lead until it is lost. */
interface Led extends Candidate {
  readonly channel: Channel
  readonly lost: AbortController
}

/** A node that was elected again has a later epoch too, and its channel serves on. */
const isLater = (candidate: Candidate, present: Candidate): boolean =>
  textOf(candidate.address) !== textOf(present.address) && (candidate.epoch ?? -1) > (present.epoch ?? Infinity)

/**
 * Keeps one channel to the leader. Servers look at who leads only when a subscription begins, followers pass appends on,
 * and a frozen leader says nothing: so the end of the log is read every second, as from the leader. A node that refuses
 * is lost at once, a silent one after three seconds, or as soon as another one answers as the leader.
 */
export const followLeader = ({ discovery, open, timers, limit, onFound, logger }: Parts): Leader => {
  const closing = new AbortController()
  let led: Led | null = null
  let whyNone = 'its nodes were not asked yet'
  let isDoubted = false
  let isLookedAtOften = false
  let changes = 0
  let lastNamed: string | null = null
  /** Resolved while somebody leads. */
  let found = Promise.withResolvers<void>()
  let resting = new AbortController()

  const current = (): Led | null => led
  const rest = async (ms: number): Promise<void> => {
    resting = new AbortController()
    await pause(timers, ms, resting.signal)
  }

  const leave = (one: Led): void => {
    led = null
    found = Promise.withResolvers<void>()
    one.lost.abort()
    one.channel.retire()
    resting.abort()
  }

  const lose = (one: Led, reason: string): void => {
    whyNone = reason
    leave(one)
    logger?.warn({ node: textOf(one.address), epoch: one.epoch, reason }, 'the leader of the event store is lost and looked for')
  }

  const take = (candidate: Candidate, channel: Channel): void => {
    if (led !== null) leave(led)
    led = { ...candidate, channel, lost: new AbortController() }
    onFound?.()
    found.resolve()
    const about = { node: textOf(candidate.address), epoch: candidate.epoch }
    const named = JSON.stringify(about)
    if (lastNamed !== null && named !== lastNamed) changes += 1
    lastNamed = named
    logger?.info(about, 'this node of the event store leads')
  }

  /** Why a node is not taken; whom it named is asked from now on. */
  const refused = (look: Look): string => {
    if (look.kind === 'leads') return 'it came too late'
    if (look.kind === 'refuses' && look.leader !== null) discovery.hear(look.leader)
    return look.reason
  }

  /**
   * Takes the first node that answers as the leader, and that may be taken; of a later epoch than `present`, where that
   * one answers too.
   */
  const search = async (present: Led | null, mayTake?: (candidate: Candidate) => Promise<boolean>): Promise<void> => {
    const candidates = await discovery.candidates()
    if (candidates.length === 0) whyNone = 'no node says that it leads'
    for (const candidate of candidates) {
      if (closing.signal.aborted || (present !== null && !isLater(candidate, present))) return
      const channel = open(candidate.address)
      const look = await channel.look(limit)
      const isFree = look.kind === 'leads' && (await mayTake?.(candidate)) !== false
      if (isFree && !closing.signal.aborted) return take(candidate, channel)
      channel.retire()
      whyNone = refused(look)
    }
  }

  const watch = async (one: Led): Promise<void> => {
    let silent = 0
    while (!one.lost.signal.aborted) {
      isLookedAtOften = isDoubted
      isDoubted = false
      const looking = one.channel.look(limit)
      // A new channel to this same node would end all feeds: only where the present one stays silent.
      const insteadOfThis = async (candidate: Candidate): Promise<boolean> =>
        textOf(candidate.address) !== textOf(one.address) || (await looking).kind !== 'leads'
      // Where this one is silent, whoever answers leads.
      const [look]: [Look, unknown] = await Promise.all([looking, silent === 0 ? null : search(null, insteadOfThis)])
      if (one.lost.signal.aborted) return
      silent = look.kind === 'silent' ? silent + 1 : 0
      if (look.kind === 'refuses' || silent === SILENT_LOOKS) return lose(one, refused(look))
      if (silent > 0) continue
      // It answers this, and yet not what was asked: a leader that was deposed does so for a moment.
      if (isLookedAtOften) await search(one)
      if (!one.lost.signal.aborted) await rest(isLookedAtOften || isDoubted ? SEARCH_EVERY_MS : LOOK_EVERY_MS)
    }
  }

  const step = async (): Promise<void> => {
    if (led === null) await search(null)
    const one = current()
    if (one === null) await rest(SEARCH_EVERY_MS)
    else await watch(one)
  }

  const run = async (): Promise<void> => {
    while (!closing.signal.aborted)
      try {
        await step()
      } catch (error) {
        logger?.error({ reason: reasonOf(error) }, 'the search for the leader of the event store failed and goes on')
        await rest(SEARCH_EVERY_MS)
      }
  }
  void run()

  const known = (): Led => {
    if (led !== null) return led
    const reason = closing.signal.aborted ? 'the event store was closed' : `no node of the event store leads: ${whyNone}`
    throw new Error(reason, { cause: unavailable(reason) })
  }

  return {
    client: () => known().channel.client,
    lost: () => known().lost.signal,
    failed: (client, error) => {
      if (led?.channel.client !== client) return
      if (error instanceof NotLeaderError) {
        const { address: host, port } = error.leader
        return lose(led, refused({ kind: 'refuses', reason: reasonOf(error), leader: { host, port } }))
      }
      isDoubted = true
      if (!isLookedAtOften) resting.abort()
    },
    known: async (signal) => {
      const aborted = Promise.withResolvers<void>()
      signal.addEventListener('abort', () => aborted.resolve(), { once: true })
      if (!signal.aborted) await Promise.race([found.promise, aborted.promise])
    },
    changes: () => changes,
    close: () => {
      closing.abort()
      if (led !== null) leave(led)
      found.resolve()
      resting.abort()
    },
  }
}
