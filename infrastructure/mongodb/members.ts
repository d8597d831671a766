import { isDeepStrictEqual } from 'node:util'
import * as E from 'fp-ts/lib/Either.js'
import type { Logger } from '../../application/ports/environment.ts'
import type { Announced, Member, Members, Profile } from '../../application/ports/peers/members.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { createBell } from '../../application/waiting.ts'
import { NOTHING_ANNOUNCED } from '../embedded-members.ts'
import type { Claim } from '../stores/claim.ts'
import { describeClaim } from '../stores/claim.ts'
import { enterMembers, noAnswer } from './enter-members.ts'
import { createJudge, SILENT_LOOKS } from './member-judge.ts'
import type { Judged } from './member-judge.ts'
import type { Entry, MemberRegister } from './member-register.ts'

/** Beats in a TTL. */
const BEATS = 5
/** Beats in whose time one must have been acknowledged for a look to count. */
const FRESH_BEATS = 2
/** What of a member somebody waits to hear. */
const AT_ONCE = ['state', 'address', 'jobs'] as const

interface MembersDeps {
  readonly register: MemberRegister
  readonly timers: Timers
  /** Milliseconds that only ever grow. */
  readonly monotonic: () => number
  readonly logger: Pick<Logger, 'info' | 'warn'>
}

/** What a look told of the members. */
export interface Verdicts {
  /** Who seems lost or absent may be held to be so: the look was answered, and so are our own beats. */
  readonly isCounted: boolean
  /** This process is one of them; true as well where nothing was answered. */
  readonly isMember: boolean
  /** Whether this incarnation is there, not lost and not about to end. */
  readonly stays: (name: string, incarnation: string) => boolean
}

/** Members that others look along with. */
export interface SharedMembers extends Members {
  /**
   * `ask` is asked right before each look, so that whoever its answer names stands in the look if it is there at all;
   * what it answers hears the verdicts.
   */
  readonly lookAlong: (ask: () => Promise<(verdicts: Verdicts) => Promise<void>>) => void
  /** Looks once more, at once; held against nobody. */
  readonly lookNow: () => void
}

const memberOf = ({ name, incarnation, roles, version, speaks, state, address, offers, logAnswers, lives, jobs }: Entry): Member => ({
  name, incarnation, roles, version, speaks, state, address, offers, logAnswers, lives, jobs,
})

/**
 * The members of a MongoDB, of which this process becomes one; throws an Error for people when it may not. It beats five
 * times in a `ttl` (milliseconds) until it leaves, or a beat finds it replaced, and looks ten times.
 */
export const joinMembers = async (deps: MembersDeps, claim: Claim, profile: Profile, ttl: number): Promise<SharedMembers> => {
  const { register, timers, monotonic, logger } = deps
  const judge = createJudge(ttl)
  let own: Entry = { ...claim, ...profile, ...NOTHING_ANNOUNCED, ttl, beat: 0, isSole: false }
  /** When the last request was made that a majority has acknowledged. */
  let acknowledged = monotonic()
  let entered: ReadonlyArray<Judged>
  try {
    entered = await enterMembers({ register, timers, logger, judge }, own)
  } catch (error) {
    // A request whose answer was lost may have put it there.
    await register.leave(own)
    throw error
  }
  const { promise: replaced, resolve: tell } = Promise.withResolvers<string>()
  const [nextBeat, nextLook] = [createBell(timers), createBell(timers)]
  const hearers = { change: new Set<() => void>(), lost: new Set<(member: Member) => void>() }
  let asking: ReadonlyArray<Parameters<SharedMembers['lookAlong']>[0]> = []
  let all: ReadonlyArray<Member> = [memberOf(own)]
  let lost: ReadonlyArray<Member> = []
  const leaving = new AbortController()

  const isOwn = ({ incarnation }: Pick<Entry, 'incarnation'>): boolean => incarnation === own.incarnation

  const show = (others: ReadonlyArray<Member>): void => {
    const now = [memberOf(own), ...others.filter(({ name }) => name !== own.name)]
    if (isDeepStrictEqual(now, all)) return
    all = now
    for (const hear of hearers.change) hear()
  }

  /** Clears away whom nobody needs to know of any more, and who must not be there beside us. */
  const tidy = async (judged: ReadonlyArray<Judged>): Promise<void> => {
    for (const { entry, isForgotten } of judged) {
      if (isForgotten) await register.strike(entry)
      else if (entry.isSole) {
        logger.warn({ member: entry.name, host: entry.host }, 'a process of an older version has come in beside this one: it is put out')
        await register.leave(entry)
      }
    }
  }

  const hear = (judged: ReadonlyArray<Judged>): void => {
    const others = judged.filter(({ entry }) => !isOwn(entry))
    const before = lost
    lost = others.filter(({ isLost }) => isLost).map(({ entry }) => memberOf(entry))
    show(others.filter(({ isLost }) => !isLost).map(({ entry }) => memberOf(entry)))
    for (const member of lost.filter(({ incarnation }) => !before.some((one) => one.incarnation === incarnation))) {
      logger.warn({ member: member.name, incarnation: member.incarnation }, 'a member is lost: it has not beaten for LEASE_TTL')
      for (const tellLost of hearers.lost) tellLost(member)
    }
  }

  const look = async (isDue: boolean): Promise<void> => {
    const along = await Promise.all(asking.map((ask) => ask()))
    const seen = await register.look()
    // What a deposed primary answers is old; it acknowledges no beat.
    const isFresh = monotonic() - acknowledged < (FRESH_BEATS * ttl) / BEATS
    const isCounted = E.isRight(seen) && isFresh
    const judged = E.isRight(seen) ? judge(seen.right, isCounted && isDue) : []
    if (E.isRight(seen)) hear(judged)
    const stays = (name: string, incarnation: string): boolean =>
      judged.some(({ entry, isLost }) =>
        entry.name === name && entry.incarnation === incarnation && !isLost && entry.state !== 'stopping')
    const isMember = E.isLeft(seen) || seen.right.some(isOwn)
    await Promise.all(along.map((told) => told({ isCounted, isMember, stays })))
    if (isCounted && isMember) await tidy(judged.filter(({ entry }) => !isOwn(entry)))
  }

  const whyReplaced = async (): Promise<string> => {
    const now = await register.look()
    const other = E.isRight(now) ? now.right.find(({ name }) => name === own.name) : undefined
    if (other === undefined) return 'its entry among the members in MongoDB is gone'
    return `the process ${describeClaim(other)} has taken its place in MongoDB`
  }

  /** Whether the place is still ours; Left: nobody tells. */
  const beat = async (): Promise<E.Either<string, boolean>> => {
    const asked = monotonic()
    const stands = await register.beat(own)
    if (E.isRight(stands) && stands.right) acknowledged = Math.max(acknowledged, asked)
    return stands
  }

  const keepBeating = async (): Promise<void> => {
    let isAnswered = true
    for (;;) {
      // One that was not answered is not waited out: the others count.
      await nextBeat.wait(isAnswered ? ttl / BEATS : ttl / BEATS / BEATS)
      if (leaving.signal.aborted) return
      const stands = await beat()
      if (E.isRight(stands) && !stands.right) return tell(await whyReplaced())
      isAnswered = E.isRight(stands)
    }
  }

  const keepLooking = async (): Promise<void> => {
    let isDue = false
    while (!leaving.signal.aborted) {
      await look(isDue)
      isDue = !(await nextLook.wait(ttl / SILENT_LOOKS))
    }
  }

  hear(entered)
  const working = Promise.all([keepBeating(), keepLooking()])
  return {
    self: { name: claim.name, incarnation: claim.incarnation },
    replaced,
    whyNot: async () => {
      const stands = await beat()
      if (E.isLeft(stands)) return noAnswer(stands.left)
      return stands.right ? null : await whyReplaced()
    },
    all: () => all,
    onChange: (changed) => {
      hearers.change.add(changed)
      return () => void hearers.change.delete(changed)
    },
    onLost: (tellLost) => {
      hearers.lost.add(tellLost)
      // Those that were found before anybody wanted to know.
      lost.forEach(tellLost)
      return () => void hearers.lost.delete(tellLost)
    },
    announce: (change: Partial<Announced>) => {
      own = { ...own, ...change }
      show(all)
      if (AT_ONCE.some((what) => change[what] !== undefined)) nextBeat.ring()
    },
    lookAlong: (ask) => {
      asking = [...asking, ask]
    },
    lookNow: nextLook.ring,
    leave: async () => {
      leaving.abort()
      for (const { ring } of [nextBeat, nextLook]) ring()
      await working
      // Unanswered, it is replaced by the next start, or waited out.
      await register.leave(own)
    },
  }
}
