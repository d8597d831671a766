import type { Entry } from '../member-register.ts'

/** A member is lost after this number of reads without a new beat (heartbeat). Reads are a tenth of a TTL apart. */
export const MAX_SILENT_READS = 10

/**
 * A lost member keeps its entry until its silence is this many times as long as the silence that makes it lost. So a
 * process that starts meanwhile also detects the loss, and can take the member's sessions and leases. A member that was
 * only disconnected can continue when it comes back.
 */
const FORGET_FACTOR = 100

export interface ObservedMember {
  readonly entry: Entry
  /** Counted reads in a row without a new beat. */
  readonly silent: number
  /** Whether a beat was seen after the first read of the member. */
  readonly hasBeaten: boolean
  readonly isLost: boolean
  /** The member was lost long ago, so its entry can be removed. */
  readonly isForgotten: boolean
}

/** Observes the members with each read. `isCounted`: a member without a new beat counts as silent in this read. */
export type LossDetector = (entries: ReadonlyArray<Entry>, isCounted: boolean) => ReadonlyArray<ObservedMember>

/**
 * Creates a detector for lost members. A read comes every tenth of `ttl` (milliseconds). The detector counts reads and
 * compares no clocks. So no member becomes lost while MongoDB does not answer, or while this process stalls. A member
 * with a longer TTL is lost after proportionally more reads.
 */
export const createLossDetector = (ttl: number): LossDetector => {
  let known: ReadonlyMap<string, ObservedMember> = new Map()
  return (entries, isCounted) => {
    const observed = entries.map((entry): ObservedMember => {
      const before = known.get(entry.name)
      const isSame = before?.entry.incarnation === entry.incarnation
      const isBeat = isSame && before.entry.beat !== entry.beat
      const silent = isSame && !isBeat ? before.silent + (isCounted ? 1 : 0) : 0
      const maxSilent = Math.ceil(MAX_SILENT_READS * Math.max(1, entry.ttl / ttl))
      return {
        entry, silent, hasBeaten: isBeat || (isSame && before.hasBeaten),
        isLost: silent >= maxSilent, isForgotten: silent >= maxSilent * FORGET_FACTOR,
      }
    })
    known = new Map(observed.map((member) => [member.entry.name, member]))
    return observed
  }
}
