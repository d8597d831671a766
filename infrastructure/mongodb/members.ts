import * as E from 'fp-ts/lib/Either.js'
import type { Logger } from '../../application/ports/environment.ts'
import type { Members } from '../../application/ports/members.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { pause } from '../../application/waiting.ts'
import type { Claim } from '../stores/claim.ts'
import { shownClaim } from '../stores/claim.ts'
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

const refusalOf = (other: Member): string =>
  `MongoDB is in use by the process ${shownClaim(other)}: stop it first, two processes cannot share it yet`

/**
 * Takes the one place in the register. A member of our data directory is gone, since that is taken for us, and is struck
 * at once; another one only after ten looks that saw no new beat. A look that is not answered does not count, so an
 * election of MongoDB makes nobody lost; and what is struck must still have the beat that was seen, by a write of a
 * majority, so an answer of a deposed primary strikes nobody. Throws an Error for people when a member beats.
 */
const enter = async ({ register, timers, logger }: MembersDeps, own: Member): Promise<void> => {
  let seen: Member | undefined
  let silent = 0
  let unanswered = 0
  /** What was answered; throws an Error for people where too little is. */
  const answer = <A>(outcome: E.Either<string, A>): A | undefined => {
    if (E.isRight(outcome)) return outcome.right
    unanswered += 1
    if (unanswered < MAX_UNANSWERED) return undefined
    throw new Error(`MongoDB does not tell whether another process uses it: ${outcome.left}`)
  }
  for (;;) {
    const members = answer(await register.look())
    const [other] = members ?? []
    if (other === undefined) {
      if (members !== undefined && answer(await register.enter(own)) === true) return
    } else if (other.incarnation === own.incarnation) {
      // Let in by a request whose answer was lost.
      return
    } else {
      const isSame = seen?.incarnation === other.incarnation
      if (isSame && other.beat !== seen?.beat) throw new Error(refusalOf(other))
      silent = isSame ? silent + 1 : 0
      const isGone = other.directory === own.directory || silent >= SILENT_LOOKS
      if (isGone && answer(await register.strike(other)) === true) continue
      if (!isGone && !isSame) {
        const { name, host, ttl } = other
        logger.warn({ member: name, host, ttl }, 'waiting to see whether another process that uses MongoDB still lives')
      }
      seen = other
    }
    await pause(timers, (seen ?? own).ttl / SILENT_LOOKS)
  }
}

/**
 * The members of a MongoDB, of which this process becomes one; throws an Error for people when it may not. It beats five
 * times in a `ttl` (milliseconds) until it leaves, or a beat finds it replaced.
 */
export const joinMembers = async (deps: MembersDeps, claim: Claim, ttl: number): Promise<Members> => {
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
    self: { name: claim.name, incarnation: claim.incarnation },
    replaced,
    leave: async () => {
      leaving.abort()
      await beating
      // Unanswered, it is struck by the next start, or waited out.
      await register.leave(own)
    },
  }
}
