import * as E from 'fp-ts/lib/Either.js'
import type { Logger } from '../../../application/ports/environment.ts'
import type { Timers } from '../../../application/ports/timers.ts'
import { pause } from '../../../application/waiting.ts'
import { describeClaim } from '../../store-rules/claim.ts'
import { type LossDetector, MAX_SILENT_READS, type ObservedMember } from './lost-members.ts'
import type { Entry, MemberRegister } from '../member-register.ts'

/** The start fails after this number of requests without an answer. */
const MAX_UNANSWERED = 10

interface Entering {
  readonly register: MemberRegister
  readonly timers: Timers
  readonly logger: Pick<Logger, 'warn'>
  readonly observe: LossDetector
}

export const noAnswer = (reason: string): string =>
  `MongoDB does not report which other processes use it: ${reason}`

/** Returns why `own` must not run next to the other process, as a message for users; null: it may. */
const refusalOf = (own: Entry, other: Entry): string | null => {
  const process = describeClaim(other)
  if (other.isSole)
    return `MongoDB is in use by the process ${process} of an older version, which must run alone: stop that process`
  if (other.name === own.name)
    return `the name of this process is taken by ${process}: stop that process, or set a different STENOLOG_NODE_NAME`
  if (other.ttl !== own.ttl)
    return `STENOLOG_LEASE_TTL is ${own.ttl} ms here and ${other.ttl} ms in the process ${process}: `
      + 'use one value for all'
  return null
}

/** The action for a member that conflicts with this process. */
type Conflict =
  | { readonly act: 'refuse'; readonly why: string }
  | { readonly act: 'wait' | 'remove' | 'replace'; readonly other: Entry }

const conflictOf = (own: Entry, { entry, hasBeaten, isLost }: ObservedMember): Conflict | null => {
  const why = entry.incarnation === own.incarnation ? null : refusalOf(own, entry)
  if (why === null) return null
  // The lock of our data directory proves that an earlier process of the same directory has ended.
  const isGone = entry.directory === own.directory || isLost
  if (entry.isSole && isGone) return { act: 'remove', other: entry }
  if (entry.name === own.name && (isGone || entry.state === 'stopping')) return { act: 'replace', other: entry }
  if (isGone || (!entry.isSole && entry.state === 'stopping')) return null
  return hasBeaten ? { act: 'refuse', why } : { act: 'wait', other: entry }
}

/**
 * Enters `own` into the register and returns the members. Throws an Error with a message for users when a running
 * process conflicts with `own`. This process has entered when a read shows its entry without a conflict.
 *
 * During an election, MongoDB does not answer. Reads without an answer do not count, so they make no member lost. A
 * deposed primary may return outdated entries. So removing or replacing an entry is a majority write, which expects the
 * beat (number of heartbeats) that was read.
 */
export const enterMembers = async (
  { register, timers, logger, observe }: Entering,
  own: Entry,
): Promise<ReadonlyArray<ObservedMember>> => {
  let unanswered = 0
  /** Returns the answer, or undefined. Throws an Error for users after too many requests without an answer. */
  const answer = <A>(outcome: E.Either<string, A>): A | undefined => {
    if (E.isRight(outcome)) return outcome.right
    unanswered += 1
    if (unanswered < MAX_UNANSWERED) return undefined
    throw new Error(noAnswer(outcome.left))
  }
  const warned = new Set<string>()
  const warn = ({ name, host, ttl, incarnation }: Entry): void => {
    if (!warned.has(incarnation))
      logger.warn({ member: name, host, ttl }, 'waiting to see whether another process that uses MongoDB is running')
    warned.add(incarnation)
  }
  /** Returns true if it has changed the register, which must then be read again at once. */
  const resolve = async (conflict: Conflict | null, isIn: boolean): Promise<boolean> => {
    if (conflict === null) return answer(await register.enter(own)) === true
    if (conflict.act === 'refuse') throw new Error(conflict.why)
    if (isIn) return answer(await register.leave(own)) !== undefined
    if (conflict.act === 'remove') return answer(await register.remove(conflict.other)) === true
    if (conflict.act === 'replace') return answer(await register.replace(conflict.other, own)) === true
    warn(conflict.other)
    return false
  }
  let isCounted = true
  for (;;) {
    const entries = answer(await register.read())
    const observed: ReadonlyArray<ObservedMember> = entries === undefined ? [] : observe(entries, isCounted)
    const conflicts = observed.flatMap((member) => conflictOf(own, member) ?? [])
    const conflict = conflicts.find(({ act }) => act === 'refuse') ?? conflicts[0] ?? null
    const isIn = entries?.some(({ incarnation }) => incarnation === own.incarnation) === true
    if (isIn && conflict === null) return observed
    isCounted = entries === undefined || !(await resolve(conflict, isIn))
    if (isCounted) await pause(timers, own.ttl / MAX_SILENT_READS)
  }
}
