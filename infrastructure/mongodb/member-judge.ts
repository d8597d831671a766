import type { Entry } from './member-register.ts'

/** Looks, a tenth of a TTL apart, without a new beat after which a member is lost. */
export const SILENT_LOOKS = 10

/**
 * How many times as long a lost member stays in the register: whoever starts meanwhile still finds it lost by itself, and
 * can say so where its sessions and leases are given away; and who was only cut off goes on when it comes back.
 */
const KEPT = 100

/** A member as it was last seen. */
export interface Judged {
  readonly entry: Entry
  /** Counted looks in a row that saw no new beat. */
  readonly silent: number
  /** It has beaten since it was first seen. */
  readonly hasBeaten: boolean
  readonly isLost: boolean
  /** Lost for so long that nobody needs to know of it any more. */
  readonly isForgotten: boolean
}

/** Judges everybody by each look. `isCounted`: it may be held against those that have not beaten since the one before. */
export type Judge = (entries: ReadonlyArray<Entry>, isCounted: boolean) => ReadonlyArray<Judged>

/**
 * A judge whose counted looks are a tenth of `ttl` apart, by its own waiting: looks are counted and no clocks compared.
 * While nothing is answered, or whoever looks stands still, nobody becomes lost. A member with a longer TTL has as many
 * more looks.
 */
export const createJudge = (ttl: number): Judge => {
  let known: ReadonlyMap<string, Judged> = new Map()
  return (entries, isCounted) => {
    const judged = entries.map((entry): Judged => {
      const before = known.get(entry.name)
      const isSame = before?.entry.incarnation === entry.incarnation
      const isBeat = isSame && before.entry.beat !== entry.beat
      const silent = isSame && !isBeat ? before.silent + (isCounted ? 1 : 0) : 0
      const looks = Math.ceil(SILENT_LOOKS * Math.max(1, entry.ttl / ttl))
      return {
        entry, silent, hasBeaten: isBeat || (isSame && before.hasBeaten),
        isLost: silent >= looks, isForgotten: silent >= looks * KEPT,
      }
    })
    known = new Map(judged.map((one) => [one.entry.name, one]))
    return judged
  }
}
