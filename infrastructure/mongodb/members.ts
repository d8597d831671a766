import * as E from 'fp-ts/lib/Either.js'
import type { Logger } from '../../application/ports/environment.ts'
import type { Members, Profile } from '../../application/ports/members.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { pause } from '../../application/waiting.ts'
import type { Claim } from '../stores/claim.ts'
import { shownClaim } from '../stores/claim.ts'
import { alone } from '../alone.ts'
import type { Member, MemberRegister } from './member-register.ts'

/** Looks without a new beat after which a member is lost, at a tenth of its TTL each. */
const SILENT_LOOKS = 10
/** Beats in a TTL. */
const BEATS = 5
/** Requests without an answer after which a start is given up. */
const MAX_UNANSWERED = 10

interface MembersDeps {
  readonly register: MemberRegister
  readonly timers: Timers
  readonly logger: Pick<Logger, 'info' | 'warn'>
}

const noAnswer = (reason: string): string => `MongoDB does not tell whether another process uses it: ${reason}`

const refusalOf = (other: Member): string =>
  `MongoDB is in use by the process ${shownClaim(other)}: stop it first, two processes cannot share it yet`

/**
 * Judges whoever has the place, by looks a tenth of its TTL apart. A member of our data directory is gone, since that is
 * taken for us; another one only after ten looks that saw no new beat. Looks are counted, no clocks compared.
 */
const createJudge = (directory: string): ((member: Member) => 'gone' | 'beats' | 'new' | 'silent') => {
  let seen: Member | undefined
  let silent = 0
  return (member) => {
    const [before, isNew] = [seen, seen?.incarnation !== member.incarnation]
    seen = member
    if (member.directory === directory) return 'gone'
    silent = isNew ? 0 : silent + 1
    if (isNew) return 'new'
    if (member.beat !== before?.beat) return 'beats'
    return silent >= SILENT_LOOKS ? 'gone' : 'silent'
  }
}

/**
 * Takes the one place in the register; throws an Error for people when whoever has it beats. A look that is not answered
 * does not count, so an election of MongoDB makes nobody lost; and what is struck must still have the beat that was seen,
 * by a write of a majority, so what a deposed primary answers strikes nobody.
 */
const enter = async ({ register, timers, logger }: MembersDeps, own: Member): Promise<void> => {
  const judge = createJudge(own.directory)
  let unanswered = 0
  /** What was answered; throws an Error for people where too little is. */
  const answer = <A>(outcome: E.Either<string, A>): A | undefined => {
    if (E.isRight(outcome)) return outcome.right
    unanswered += 1
    if (unanswered < MAX_UNANSWERED) return undefined
    throw new Error(noAnswer(outcome.left))
  }
  for (;;) {
    if (answer(await register.enter(own)) === true) return
    const [other] = answer(await register.look()) ?? []
    if (other !== undefined) {
      const { name, host, ttl } = other
      const state = judge(other)
      if (state === 'beats') throw new Error(refusalOf(other))
      // Our own entry may be there too, by a request whose answer was lost.
      if (state === 'gone' && answer(await register.strike(other)) === true) continue
      if (state === 'new') logger.warn({ member: name, host, ttl }, 'waiting to see whether another process that uses MongoDB still lives')
    }
    await pause(timers, (other ?? own).ttl / SILENT_LOOKS)
  }
}

/**
 * The members of a MongoDB, of which this process becomes one; throws an Error for people when it may not. It beats five
 * times in a `ttl` (milliseconds) until it leaves, or a beat finds it replaced.
 */
export const joinMembers = async (deps: MembersDeps, claim: Claim, profile: Profile, ttl: number): Promise<Members> => {
  const { register, timers } = deps
  const own: Member = { ...claim, ttl, beat: 0 }
  await enter(deps, own)
  const { promise: replaced, resolve: tell } = Promise.withResolvers<string>()
  const leaving = new AbortController()

  const whyReplaced = async (): Promise<string> => {
    const now = await register.look()
    const [other] = E.isRight(now) ? now.right : []
    if (other === undefined) return 'its entry among the members in MongoDB is gone'
    return `the process ${shownClaim(other)} has taken its place in MongoDB`
  }
  const beat = async (): Promise<void> => {
    for (;;) {
      await pause(timers, ttl / BEATS, leaving.signal)
      if (leaving.signal.aborted) return
      const stands = await register.beat(own)
      if (E.isRight(stands) && !stands.right) return tell(await whyReplaced())
    }
  }
  const beating = beat()
  return {
    ...alone({ name: claim.name, incarnation: claim.incarnation }, profile),
    replaced,
    whyNot: async () => {
      const stands = await register.beat(own)
      if (E.isLeft(stands)) return noAnswer(stands.left)
      return stands.right ? null : await whyReplaced()
    },
    leave: async () => {
      leaving.abort()
      await beating
      // Unanswered, it is struck by the next start, or waited out.
      await register.leave(own)
    },
  }
}
