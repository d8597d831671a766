import * as E from 'fp-ts/lib/Either.js'
import type { Logger } from '../../application/ports/environment.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { pause } from '../../application/waiting.ts'
import { describeClaim } from '../stores/claim.ts'
import { SILENT_LOOKS } from './member-judge.ts'
import type { Judge, Judged } from './member-judge.ts'
import type { Entry, MemberRegister } from './member-register.ts'

/** Requests without an answer after which a start is given up. */
const MAX_UNANSWERED = 10

interface Entering {
  readonly register: MemberRegister
  readonly timers: Timers
  readonly logger: Pick<Logger, 'warn'>
  readonly judge: Judge
}

export const noAnswer = (reason: string): string => `MongoDB does not tell which other processes use it: ${reason}`

/** Why `own` may not run while the other one does, in words for people; null where it may. */
const refusalOf = (own: Entry, other: Entry): string | null => {
  if (other.isSole) return `MongoDB is in use by the process ${describeClaim(other)} of an older version, which shares it with nobody: stop it first`
  if (other.name === own.name)
    return `the name of this process is taken by ${describeClaim(other)}: stop that one first, or give each a NODE_NAME of its own`
  if (other.ttl !== own.ttl)
    return `LEASE_TTL is ${own.ttl} ms here and ${other.ttl} ms in the process ${describeClaim(other)}: it must be the same in all processes of a MongoDB`
  return null
}

/** What is to be done about the first that stands in the way; null: nobody does. */
type InTheWay = { readonly act: 'refuse'; readonly why: string } | { readonly act: 'wait' | 'strike' | 'replace'; readonly other: Entry }

const inTheWay = (own: Entry, { entry, hasBeaten, isLost }: Judged): InTheWay | null => {
  const why = entry.incarnation === own.incarnation ? null : refusalOf(own, entry)
  if (why === null) return null
  // An earlier process of our data directory is gone, since the directory is taken for us.
  const isGone = entry.directory === own.directory || isLost
  if (entry.isSole && isGone) return { act: 'strike', other: entry }
  if (entry.name === own.name && (isGone || entry.state === 'stopping')) return { act: 'replace', other: entry }
  if (isGone || (!entry.isSole && entry.state === 'stopping')) return null
  return hasBeaten ? { act: 'refuse', why } : { act: 'wait', other: entry }
}

/**
 * Puts `own` into the register beside those that let it; throws an Error for people when somebody who beats does not.
 * It is in once a look shows it there and nobody in its way. A look that is not answered does not count, so an election
 * of MongoDB makes nobody lost; and what is struck or replaced must still have the beat that was seen, by a write of a
 * majority, so what a deposed primary answers harms nobody. Answers the members as they were seen then.
 */
export const enterMembers = async ({ register, timers, logger, judge }: Entering, own: Entry): Promise<ReadonlyArray<Judged>> => {
  let unanswered = 0
  /** What was answered; throws an Error for people where too little is. */
  const answer = <A>(outcome: E.Either<string, A>): A | undefined => {
    if (E.isRight(outcome)) return outcome.right
    unanswered += 1
    if (unanswered < MAX_UNANSWERED) return undefined
    throw new Error(noAnswer(outcome.left))
  }
  const warned = new Set<string>()
  const warn = ({ name, host, ttl, incarnation }: Entry): void => {
    if (!warned.has(incarnation)) logger.warn({ member: name, host, ttl }, 'waiting to see whether another process that uses MongoDB still lives')
    warned.add(incarnation)
  }
  /** True where it changed something: the next look shows what. */
  const make = async (way: InTheWay | null, isIn: boolean): Promise<boolean> => {
    if (way === null) return answer(await register.enter(own)) === true
    if (way.act === 'refuse') throw new Error(way.why)
    if (isIn) return answer(await register.leave(own)) !== undefined
    if (way.act === 'strike') return answer(await register.strike(way.other)) === true
    if (way.act === 'replace') return answer(await register.replace(way.other, own)) === true
    warn(way.other)
    return false
  }
  let isCounted = true
  for (;;) {
    const seen = answer(await register.look())
    const judged: ReadonlyArray<Judged> = seen === undefined ? [] : judge(seen, isCounted)
    const ways = judged.flatMap((one) => inTheWay(own, one) ?? [])
    const way = ways.find(({ act }) => act === 'refuse') ?? ways[0] ?? null
    const isIn = seen?.some(({ incarnation }) => incarnation === own.incarnation) === true
    if (isIn && way === null) return judged
    isCounted = seen === undefined || !(await make(way, isIn))
    if (isCounted) await pause(timers, own.ttl / SILENT_LOOKS)
  }
}
