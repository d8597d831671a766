import { readFileSync, writeFileSync } from 'node:fs'
import type { Turn } from './faults.ts'
import { branchOf, type Storage } from './storage.ts'

/** A member of the set. */
interface Member {
  /** The separate data of a disconnected member; null: the data of the set. */
  own: Storage | null
  /** The term in which it acts as primary although another member was elected. */
  claims: number | null
  isFrozen: boolean
  isStopped: boolean
  isCutOff: boolean
  skewMs: number
  /** Counts the changes of its answer to `hello`. */
  version: number
}

/** The state of a member as its clients see it. */
export interface Seat {
  readonly storage: Storage
  /** The term in which it accepts writes; null: it is a secondary. */
  readonly leads: number | null
  /** The member that it considers the primary. */
  readonly primary: number | null
  readonly version: number
  readonly now: () => Date
}

interface SetOptions {
  readonly storage: Storage
  readonly size: number
  /** Stores the term across kills, because drivers ignore a primary with an older term. */
  readonly file: string
  /** Ends the wait for a majority of all answers of this member. */
  readonly settle: (member: number, isRolledBack: boolean) => void
  /** Called when the state of a member or its network changes. */
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
 * Members that share the data of the primary. A disconnected member has a branch of the data: a deposed primary writes
 * to its branch and loses it when it reconnects. Connected members have all data at once. The test sets the time of an
 * election; there is no vote, and a primary never steps down on its own.
 */
export const createReplicaSet = ({ storage, size, file, settle, changed }: SetOptions) => {
  const saved = savedIn(file)
  const members = Array.from({ length: size }, (): Member =>
    ({ own: null, claims: null, isFrozen: false, isStopped: false, isCutOff: false, skewMs: 0, version: 0 }))
  const quorum = Math.floor(size / 2) + 1
  let primary: number | null = saved.primary < size ? saved.primary : 0
  let term = saved.term + 1
  let election: NodeJS.Timeout | undefined
  /** An election is due as soon as a majority is connected. */
  let isDue = false
  let steppedDown: number | null = null

  const memberAt = (index: number): Member => {
    const member = members[index]
    if (member === undefined) throw new Error(`unknown member ${index}`)
    return member
  }
  const isInTouch = ({ isFrozen, isStopped, isCutOff }: Member): boolean => !isFrozen && !isStopped && !isCutOff

  const publish = (): void => {
    if (primary !== null) writeFileSync(file, JSON.stringify({ term, primary }))
    for (const member of members) member.version += 1
    changed()
  }

  /**
   * Applies a change of the connections. A disconnected member gets a branch of the data. The writes of the primary
   * have a majority while enough members are connected.
   */
  const review = (): void => {
    for (const [index, member] of members.entries()) {
      if (isInTouch(member)) member.own = null
      else if (index !== primary) member.own ??= branchOf(storage)
    }
    if (primary !== null) {
      if (isInTouch(memberAt(primary)) && members.filter(isInTouch).length >= quorum) {
        storage.catchUp()
        settle(primary, false)
      } else storage.cutOff()
    }
    publish()
  }

  /** Removes writes without a majority from the set. A primary that is still reachable keeps them in its branch. */
  const partFrom = (index: number, isStillThere: boolean): void => {
    const member = memberAt(index)
    member.own = isStillThere ? branchOf(storage) : null
    member.claims = isStillThere ? term : null
    if (storage.isAhead()) storage.rollBack()
    if (!isStillThere) settle(index, true)
  }

  const elect = (): void => {
    const old = primary
    isDue = old === null || !isInTouch(memberAt(old))
    if (!isDue) return
    const [next] = [...members.keys()].filter((index) => index !== old && isInTouch(memberAt(index)))
      // A member that just stepped down is the last choice.
      .toSorted((a, b) => Number(a === steppedDown) - Number(b === steppedDown))
    if (next === undefined || members.filter(isInTouch).length < quorum) return
    if (old !== null) partFrom(old, !memberAt(old).isStopped)
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

  /** Reconnects a member. Its own writes are lost. */
  const reconnect = (index: number): void => {
    const member = memberAt(index)
    member.isCutOff = false
    if (member.claims !== null) settle(index, true)
    member.claims = null
    review()
    if (isDue) elect()
  }

  /** Handles a member that became unreachable. */
  const lose = (index: number, electionMs: number): void => {
    review()
    if (index === primary) electLater(electionMs)
  }

  const thaw = (index: number, claimMs: number): void => {
    const member = memberAt(index)
    member.isFrozen = false
    if (member.claims === null) return reconnect(index)
    member.isCutOff = true
    review()
    setTimeout(() => reconnect(index), claimMs)
  }

  const turn = (change: Turn): void => {
    switch (change.turn) {
      case 'step-down':
        return stepDown(change.electionMs)
      case 'depose': {
        if (primary === null) return undefined
        memberAt(primary).isCutOff = true
        return lose(primary, change.electionMs)
      }
      case 'rejoin':
        return members.forEach((member, index) => {
          if (member.isCutOff) reconnect(index)
        })
      case 'freeze':
        memberAt(change.member).isFrozen = true
        return lose(change.member, change.electionMs)
      case 'thaw':
        return thaw(change.member, change.claimMs)
      case 'stop':
        memberAt(change.member).isStopped = true
        return lose(change.member, change.electionMs)
      case 'start':
        memberAt(change.member).isStopped = false
        return reconnect(change.member)
      case 'skew':
        memberAt(change.member).skewMs = change.ms
    }
  }

  publish()
  return {
    turn,
    cutOff: (): void => {
      if (primary === null) return
      memberAt(primary).isCutOff = true
      review()
    },
    catchUp: (): void => turn({ turn: 'rejoin' }),
    /** Undoes the writes without a majority, as after two elections, of which the second returns this primary. */
    rollBack: (): void => {
      if (primary === null) return
      storage.rollBack()
      settle(primary, true)
      term += 1
      memberAt(primary).isCutOff = false
      review()
    },
    seat: (index: number): Seat => {
      const { own, claims, version, skewMs } = memberAt(index)
      return {
        storage: own ?? storage,
        leads: claims ?? (primary === index ? term : null),
        primary: claims === null ? primary : index,
        version,
        now: () => new Date(Date.now() + skewMs),
      }
    },
    /** The state of the network at a member, for all doors. */
    line: (index: number) => (memberAt(index).isStopped ? 'closed' : memberAt(index).isFrozen ? 'silent' : 'open'),
    state: () => ({ primary, term, deposed: [...members.keys()].filter((index) => memberAt(index).claims !== null) }),
  } as const
}

export type ReplicaSet = ReturnType<typeof createReplicaSet>
