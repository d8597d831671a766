import { readFileSync, writeFileSync } from 'node:fs'
import type { Turn } from './faults.ts'
import { branchOf } from './storage.ts'
import type { Storage } from './storage.ts'

/** A server of the set. */
interface Member {
  /** Out of touch: what it had then, and what it has written since; null: what the set has. */
  own: Storage | null
  /** The term in which it takes itself for the primary though another was elected. */
  claims: number | null
  isFrozen: boolean
  isStopped: boolean
  isCutOff: boolean
  skewMs: number
  /** Counts what its greeting tells anew. */
  version: number
}

/** How a member stands, to whoever speaks to it. */
export interface Seat {
  readonly storage: Storage
  /** The term in which it takes writes; null: it is a secondary. */
  readonly leads: number | null
  /** The member that it takes for the primary. */
  readonly primary: number | null
  readonly version: number
  readonly now: () => Date
}

interface SetOptions {
  readonly storage: Storage
  readonly size: number
  /** Keeps the term across kills: one that went back would be taken for an older primary for ever. */
  readonly file: string
  /** Answers of this member wait for a majority no more. */
  readonly settle: (member: number, isRolledBack: boolean) => void
  /** Of a member, or how it can be reached, something is new. */
  readonly changed: () => void
}

const savedIn = (file: string): { readonly term: number; readonly primary: number } => {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as { readonly term: number; readonly primary: number }
  } catch {
    return { term: 0, primary: 0 }
  }
}

/**
 * Members that share one history, which is the primary's. Who is out of touch has a branch of it: a deposed primary
 * writes
 * to its own, and loses it when it is back. All members in touch have all at once. Who is elected is decided by whoever
 * is
 * in touch, at the time that the test gives: nobody votes, and no primary steps down by itself.
 */
export const createReplicaSet = ({ storage, size, file, settle, changed }: SetOptions) => {
  const saved = savedIn(file)
  const members = Array.from({ length: size }, (): Member =>
    ({ own: null, claims: null, isFrozen: false, isStopped: false, isCutOff: false, skewMs: 0, version: 0 }))
  const quorum = Math.floor(size / 2) + 1
  let primary: number | null = saved.primary < size ? saved.primary : 0
  let term = saved.term + 1
  let election: NodeJS.Timeout | undefined
  /** Whether there would be a primary by now, were most members in touch. */
  let isDue = false
  let steppedDown: number | null = null

  const at = (index: number): Member => {
    const member = members[index]
    if (member === undefined) throw new Error(`the set has no member ${index}`)
    return member
  }
  const isInTouch = ({ isFrozen, isStopped, isCutOff }: Member): boolean => !isFrozen && !isStopped && !isCutOff

  const tell = (): void => {
    if (primary !== null) writeFileSync(file, JSON.stringify({ term, primary }))
    for (const member of members) member.version += 1
    changed()
  }

  /** What the primary writes is a majority's, or is not, from now on. */
  const review = (): void => {
    for (const [index, member] of members.entries()) {
      if (isInTouch(member)) member.own = null
      else if (index !== primary) member.own ??= branchOf(storage)
    }
    if (primary !== null) {
      if (isInTouch(at(primary)) && members.filter(isInTouch).length >= quorum) {
        storage.catchUp()
        settle(primary, false)
      } else storage.cutOff()
    }
    tell()
  }

  /** What the set has that only this primary wrote is its own, or nobody's. */
  const partFrom = (index: number, isStillThere: boolean): void => {
    const member = at(index)
    member.own = isStillThere ? branchOf(storage) : null
    member.claims = isStillThere ? term : null
    if (storage.isAhead()) storage.rollBack()
    if (!isStillThere) settle(index, true)
  }

  const elect = (): void => {
    const old = primary
    isDue = old === null || !isInTouch(at(old))
    if (!isDue) return
    const [next] = [...members.keys()].filter((index) => index !== old && isInTouch(at(index)))
      // Who has just stepped down comes last.
      .toSorted((a, b) => Number(a === steppedDown) - Number(b === steppedDown))
    if (next === undefined || members.filter(isInTouch).length < quorum) return
    if (old !== null) partFrom(old, !at(old).isStopped)
    primary = next
    term += 1
    isDue = false
    steppedDown = null
    storage.catchUp()
    review()
  }

  const electLater = (ms: number): void => {
    clearTimeout(election)
    election = setTimeout(elect, ms)
  }

  const stepDown = (electionMs: number): void => {
    if (primary === null) return
    steppedDown = primary
    const old = primary
    primary = null
    partFrom(old, false)
    review()
    electLater(electionMs)
  }

  /** It hears of the others: what it wrote without them is gone. */
  const back = (index: number): void => {
    const member = at(index)
    member.isCutOff = false
    if (member.claims !== null) settle(index, true)
    member.claims = null
    review()
    if (isDue) elect()
  }

  const lose = (index: number, electionMs: number): void => {
    review()
    if (index === primary) electLater(electionMs)
  }

  const thaw = (index: number, claimMs: number): void => {
    const member = at(index)
    member.isFrozen = false
    if (member.claims === null) return back(index)
    member.isCutOff = true
    review()
    setTimeout(() => back(index), claimMs)
  }

  const turn = (what: Turn): void => {
    switch (what.turn) {
      case 'step-down':
        return stepDown(what.electionMs)
      case 'depose': {
        if (primary === null) return undefined
        at(primary).isCutOff = true
        return lose(primary, what.electionMs)
      }
      case 'rejoin':
        return members.forEach((member, index) => {
          if (member.isCutOff) back(index)
        })
      case 'freeze':
        at(what.member).isFrozen = true
        return lose(what.member, what.electionMs)
      case 'thaw':
        return thaw(what.member, what.claimMs)
      case 'stop':
        at(what.member).isStopped = true
        return lose(what.member, what.electionMs)
      case 'start':
        at(what.member).isStopped = false
        return back(what.member)
      case 'skew':
        at(what.member).skewMs = what.ms
    }
  }

  tell()
  return {
    turn,
    cutOff: (): void => {
      if (primary === null) return
      at(primary).isCutOff = true
      review()
    },
    catchUp: (): void => turn({ turn: 'rejoin' }),
    /** As if the other members had elected a primary, and then this one again. */
    rollBack: (): void => {
      if (primary === null) return
      storage.rollBack()
      settle(primary, true)
      term += 1
      at(primary).isCutOff = false
      review()
    },
    seat: (index: number): Seat => {
      const { own, claims, version, skewMs } = at(index)
      return {
        storage: own ?? storage,
        leads: claims ?? (primary === index ? term : null),
        primary: claims === null ? primary : index,
        version,
        now: () => new Date(Date.now() + skewMs),
      }
    },
    /** How clients reach a member, whatever door they take. */
    line: (index: number) => (at(index).isStopped ? 'closed' : at(index).isFrozen ? 'silent' : 'open'),
    state: () => ({
      primary, term,
      deposed: [...members.keys()].filter((index) => at(index).claims !== null),
    }),
  } as const
}

export type ReplicaSet = ReturnType<typeof createReplicaSet>
