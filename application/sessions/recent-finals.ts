import type { TranscriptFrame } from '../pipeline/signals.ts'
import { READABLE_AFTER_END_MS } from '../lives/forget-text.ts'
import { keyOf, searchBackwards } from '../lives/resume-point.ts'
import type { ResumePoint, Wanted } from '../lives/resume-point.ts'
import type { Timers } from '../ports/timers.ts'

/** Finals of one live that are kept in memory; those that no store has yet come on top. */
const KEPT = 500

interface Entry {
  readonly frame: TranscriptFrame
  told: boolean
  stored: boolean
}

/** What becomes of a final that was added. */
export interface AddedFinal {
  /** It was published. */
  readonly told: () => void
  readonly stored: () => void
}

/** The newest finals of one live, in the order in which they are told. */
export interface LiveFinals {
  readonly add: (frame: TranscriptFrame) => AddedFinal
  /** What a socket from `point` on wants of them; null where they do not reach back that far. */
  readonly search: (point: ResumePoint) => Wanted | null
  readonly told: () => ReadonlyArray<TranscriptFrame>
  /** It may stand in the store, but whoever listens is still to hear it. */
  readonly isUntold: (key: string) => boolean
}

/** The newest finals of the lives of this process, so that whoever comes back after a short while costs no read. */
export interface RecentFinals {
  /** `fromStart`: no earlier process told finals of this live. */
  readonly open: (liveId: number, fromStart: boolean) => LiveFinals
  readonly of: (liveId: number) => LiveFinals | undefined
  /** They stay for a minute, or not at all. */
  readonly ended: (liveId: number, erase: boolean) => void
  readonly close: () => void
}

const createLiveFinals = (fromStart: boolean, kept: number): LiveFinals & { readonly clear: () => void } => {
  let entries: Array<Entry> = []
  let complete = fromStart

  const trim = (): void => {
    while (entries.length > kept && entries[0]?.told === true && entries[0].stored) {
      entries.shift()
      complete = false
    }
  }

  return {
    add: (frame) => {
      const entry: Entry = { frame, told: false, stored: false }
      entries.push(entry)
      trim()
      return {
        told: () => {
          entry.told = true
        },
        stored: () => {
          entry.stored = true
        },
      }
    },
    search: (point) => {
      const search = searchBackwards(point)
      const reaches = entries.toReversed().some(({ frame, told }) => told && search.found(frame))
      return reaches || complete ? search.wanted() : null
    },
    told: () => entries.flatMap(({ frame, told }) => (told ? [frame] : [])),
    isUntold: (key) => entries.some(({ frame, told }) => !told && keyOf(frame) === key),
    clear: () => {
      entries = []
      complete = false
    },
  }
}

export const createRecentFinals = (timers: Timers, kept: number = KEPT): RecentFinals => {
  const lives = new Map<number, ReturnType<typeof createLiveFinals>>()
  const forgetting = new Map<number, () => void>()

  const forget = (liveId: number): void => {
    forgetting.get(liveId)?.()
    forgetting.delete(liveId)
    lives.get(liveId)?.clear()
    lives.delete(liveId)
  }

  return {
    open: (liveId, fromStart) => {
      const finals = lives.get(liveId) ?? createLiveFinals(fromStart, kept)
      lives.set(liveId, finals)
      return finals
    },
    of: (liveId) => lives.get(liveId),
    ended: (liveId, erase) => {
      if (!lives.has(liveId)) return
      if (erase) forget(liveId)
      else if (!forgetting.has(liveId)) forgetting.set(liveId, timers.after(READABLE_AFTER_END_MS, () => forget(liveId)))
    },
    close: () => {
      for (const cancel of forgetting.values()) cancel()
      forgetting.clear()
      lives.clear()
    },
  }
}
