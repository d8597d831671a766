import { isDeepStrictEqual } from 'node:util'
import * as E from 'fp-ts/lib/Either.js'
import type { Logger } from '../../application/ports/environment.ts'
import type { Announced, Member, Members, Profile } from '../../application/ports/members.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { createWakeUp } from '../../application/waiting.ts'
import { NOTHING_ANNOUNCED } from '../embedded-members.ts'
import { type Claim, describeClaim } from '../store-rules/claim.ts'
import { enterMembers, noAnswer } from './membership/enter-members.ts'
import { createLossDetector, MAX_SILENT_READS, type ObservedMember } from './membership/lost-members.ts'
import { logMemberChanges } from './membership/member-changes.ts'
import type { Entry, MemberRegister } from './member-register.ts'

/** Number of beats (heartbeats) in one TTL, the time without a beat after which a member counts as lost. */
const BEATS = 5
/** A read counts only if a beat was acknowledged within the time of this many beats. */
const FRESH_BEATS = 2
/** A change of one of these fields is announced at once, because other processes wait for it. */
const URGENT = ['state', 'address', 'jobs'] as const

interface MembersDeps {
  readonly register: MemberRegister
  readonly timers: Timers
  /** Returns the milliseconds of a monotonic clock. */
  readonly monotonic: () => number
  readonly logger: Pick<Logger, 'info' | 'warn'>
}

export interface Verdicts {
  /** Whether a silent or missing member may count as lost: MongoDB has answered this read and our recent beats. */
  readonly isCounted: boolean
  /** Whether this process is a member. Also true when MongoDB did not answer. */
  readonly isMember: boolean
  /** Whether this incarnation (run of a process) is a member, is not lost and is not stopping. */
  readonly stays: (name: string, incarnation: string) => boolean
}

/** The members, for other adapters that join their own reads to the reads of the members. */
export interface SharedMembers extends Members {
  /**
   * Runs `read` right before each read of the members. So if `read` finds a process, the members contain it, unless it
   * has left. The function that `read` returns receives the verdicts.
   */
  readonly joinReads: (read: () => Promise<(verdicts: Verdicts) => Promise<void>>) => void
  /** Reads the members at once. This extra read makes no member silent. */
  readonly readNow: () => void
}

const memberOf = (entry: Entry): Member => {
  const { name, incarnation, roles, version, speaks, state, address, offers, logAnswers, lives, jobs } = entry
  return { name, incarnation, roles, version, speaks, state, address, offers, logAnswers, lives, jobs }
}

/**
 * Joins the members of a MongoDB. Throws an Error with a message for users when this process must not join. It beats
 * five times and reads the members ten times in each `ttl` (milliseconds), until it leaves or finds itself replaced.
 */
export const joinMembers = async (
  deps: MembersDeps,
  claim: Claim,
  profile: Profile,
  ttl: number,
): Promise<SharedMembers> => {
  const { register, timers, monotonic, logger } = deps
  const observe = createLossDetector(ttl)
  let own: Entry = { ...claim, ...profile, ...NOTHING_ANNOUNCED, ttl, beat: 0, isSole: false }
  /** Start time of the last request that a majority has acknowledged. */
  let acknowledgedAt = monotonic()
  let entered: ReadonlyArray<ObservedMember>
  try {
    entered = await enterMembers({ register, timers, logger, observe }, own)
  } catch (error) {
    // A request whose answer was lost may have added the entry.
    await register.leave(own)
    throw error
  }
  const { promise: replaced, resolve: reportReplaced } = Promise.withResolvers<string>()
  const [nextBeat, nextRead] = [createWakeUp(timers), createWakeUp(timers)]
  const listeners = { change: new Set<() => void>(), lost: new Set<(member: Member) => void>() }
  let joinedReads: ReadonlyArray<Parameters<SharedMembers['joinReads']>[0]> = []
  let all: ReadonlyArray<Member> = [memberOf(own)]
  let lost: ReadonlyArray<Member> = []
  const leaving = new AbortController()

  const isOwn = ({ incarnation }: Pick<Entry, 'incarnation'>): boolean => incarnation === own.incarnation

  const update = (others: ReadonlyArray<Member>): void => {
    const members = [memberOf(own), ...others.filter(({ name }) => name !== own.name)]
    if (isDeepStrictEqual(members, all)) return
    logMemberChanges(logger, all, members, lost)
    all = members
    for (const listener of listeners.change) listener()
  }

  /** Removes members that were lost long ago, and processes of older versions that cannot share the stores. */
  const removeStale = async (observed: ReadonlyArray<ObservedMember>): Promise<void> => {
    for (const { entry, isForgotten } of observed) {
      if (isForgotten) await register.remove(entry)
      else if (entry.isSole) {
        const fields = { member: entry.name, host: entry.host }
        logger.warn(fields, 'a process of an older version cannot share MongoDB, removing it')
        await register.leave(entry)
      }
    }
  }

  const use = (observed: ReadonlyArray<ObservedMember>): void => {
    const others = observed.filter(({ entry }) => !isOwn(entry))
    const before = lost
    lost = others.filter(({ isLost }) => isLost).map(({ entry }) => memberOf(entry))
    update(others.filter(({ isLost }) => !isLost).map(({ entry }) => memberOf(entry)))
    const wasLost = ({ incarnation }: Member): boolean => before.some((member) => member.incarnation === incarnation)
    for (const member of lost.filter((candidate) => !wasLost(candidate))) {
      const fields = { member: member.name, incarnation: member.incarnation }
      logger.warn(fields, 'a member is lost: no heartbeat for LEASE_TTL')
      for (const listener of listeners.lost) listener(member)
    }
  }

  /** `isDue`: whether this is a regular read, in which a member without a new beat counts as silent. */
  const read = async (isDue: boolean): Promise<void> => {
    const joined = await Promise.all(joinedReads.map((joinedRead) => joinedRead()))
    const entries = await register.read()
    // A deposed primary returns outdated entries, but cannot acknowledge our beats.
    const isFresh = monotonic() - acknowledgedAt < (FRESH_BEATS * ttl) / BEATS
    const isCounted = E.isRight(entries) && isFresh
    const observed = E.isRight(entries) ? observe(entries.right, isCounted && isDue) : []
    if (E.isRight(entries)) use(observed)
    const stays = (name: string, incarnation: string): boolean =>
      observed.some(({ entry, isLost }) =>
        entry.name === name && entry.incarnation === incarnation && !isLost && entry.state !== 'stopping')
    const isMember = E.isLeft(entries) || entries.right.some(isOwn)
    await Promise.all(joined.map((useVerdicts) => useVerdicts({ isCounted, isMember, stays })))
    if (isCounted && isMember) await removeStale(observed.filter(({ entry }) => !isOwn(entry)))
  }

  const whyReplaced = async (): Promise<string> => {
    const entries = await register.read()
    const successor = E.isRight(entries) ? entries.right.find(({ name }) => name === own.name) : undefined
    if (successor === undefined) return 'its entry in the collection of members in MongoDB is missing'
    return `the process ${describeClaim(successor)} has taken its place in MongoDB`
  }

  /** Returns whether our entry still exists. Left: MongoDB did not answer. */
  const beat = async (): Promise<E.Either<string, boolean>> => {
    const startedAt = monotonic()
    const exists = await register.beat(own)
    if (E.isRight(exists) && exists.right) acknowledgedAt = Math.max(acknowledgedAt, startedAt)
    return exists
  }

  const keepBeating = async (): Promise<void> => {
    let isAnswered = true
    for (;;) {
      // After an unanswered beat the next one follows sooner, because the other processes count silence.
      await nextBeat.wait(isAnswered ? ttl / BEATS : ttl / BEATS / BEATS)
      if (leaving.signal.aborted) return
      const exists = await beat()
      if (E.isRight(exists) && !exists.right) return reportReplaced(await whyReplaced())
      isAnswered = E.isRight(exists)
    }
  }

  const keepReading = async (): Promise<void> => {
    let isDue = false
    while (!leaving.signal.aborted) {
      await read(isDue)
      isDue = !(await nextRead.wait(ttl / MAX_SILENT_READS))
    }
  }

  use(entered)
  const working = Promise.all([keepBeating(), keepReading()])
  return {
    self: { name: claim.name, incarnation: claim.incarnation },
    replaced,
    ownershipProblem: async () => {
      const exists = await beat()
      if (E.isLeft(exists)) return noAnswer(exists.left)
      return exists.right ? null : await whyReplaced()
    },
    all: () => all,
    onChange: (listener) => {
      listeners.change.add(listener)
      return () => void listeners.change.delete(listener)
    },
    onLost: (listener) => {
      listeners.lost.add(listener)
      // Reports members that were found lost before this call.
      lost.forEach(listener)
      return () => void listeners.lost.delete(listener)
    },
    announce: (change: Partial<Announced>) => {
      own = { ...own, ...change }
      update(all)
      if (URGENT.some((member) => change[member] !== undefined)) nextBeat.wake()
    },
    joinReads: (joinedRead) => {
      joinedReads = [...joinedReads, joinedRead]
    },
    readNow: nextRead.wake,
    leave: async () => {
      leaving.abort()
      for (const { wake } of [nextBeat, nextRead]) wake()
      await working
      // If this fails, the next process of this name replaces the entry, or waits until it counts as lost.
      await register.leave(own)
    },
  }
}
