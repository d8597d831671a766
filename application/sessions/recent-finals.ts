import type { TranscriptFrame } from '../pipeline/signals.ts'
import { READABLE_AFTER_END_MS } from '../lives/policies/forget-text.ts'
import { finalKey, createBackwardSearch } from '../lives/queries/resume-point.ts'
import type { ResumePoint, IsWanted } from '../lives/queries/resume-point.ts'
import type { Timers } from '../ports/timers.ts'

/** Finals of one live that are kept in memory; those that no store has come on top. */
const KEPT = 500
/** Of a live, of those that no store will ever have; beyond it the oldest are lost. */
const MOST_DROPPED = 10_000

interface Entry {
  readonly frame: TranscriptFrame
  told: boolean
  state: 'waiting' | 'stored' | 'dropped'
}

/** What becomes of a final that was added. */
export interface AddedFinal {
  /** It was published. */
  readonly told: () => void
  readonly stored: () => void
  /** No store will ever have it. */
  readonly dropped: () => void
}

/** The newest finals of one live, in the order in which they are told. */
export interface LiveFinals {
  readonly add: (frame: TranscriptFrame) => AddedFinal
  /** What a socket from `point` on wants of them; null where they do not reach back that far. */
  readonly search: (point: ResumePoint) => IsWanted | null
  readonly told: () => ReadonlyArray<TranscriptFrame>
  /** Those of `told` that no log holds. */
  readonly dropped: () => ReadonlyArray<TranscriptFrame>
  /** One of them is not in the log yet. */
  readonly isWaiting: () => boolean
  /** It may stand in the store, but whoever listens is still to hear it. */
  readonly isUntold: (key: string) => boolean
  /** The key of the newest that is in the store alone, as are all added before it; null where there is none. */
  readonly evicted: () => string | null
  /** They reach back to the first of the live. */
  readonly isWhole: () => boolean
}

/** The newest finals of the lives of this process, so that whoever comes back after a short while costs no read. */
export interface RecentFinals {
  /** `fromStart`: no earlier process told finals of this live. */
  readonly open: (liveId: number, fromStart: boolean) => LiveFinals
  readonly of: (liveId: number) => LiveFinals | undefined
  /** They stay for a minute, or not at all. */
  readonly ended: (liveId: number, erase: boolean) => void
  /** Others tell of the live from now on, so that these are not the newest any more. */
  readonly forget: (liveId: number) => void
  readonly close: () => void
}

const createLiveFinals = (fromStart: boolean, kept: number): LiveFinals & { readonly clear: () => void } => {
  /** Without gaps up to the newest. */
  let entries: Array<Entry> = []
  /** Older ones that no store has. */
  let older: Array<Entry> = []
  let complete = fromStart
  let evicted: string | null = null

  const trim = (): void => {
    const isDone = (entry: Entry | undefined): entry is Entry => entry?.told === true && entry.state !== 'waiting'
    for (let [first] = entries; entries.length > kept && isDone(first); [first] = entries) {
      entries.shift()
      if (first.state === 'dropped') older.push(first)
      else evicted = finalKey(first.frame)
      complete = false
    }
  }

  const framesOf = (isMeant: (entry: Entry) => boolean): ReadonlyArray<TranscriptFrame> =>
    [...older, ...entries].flatMap((entry) => (entry.told && isMeant(entry) ? [entry.frame] : []))

  const forgetDropped = (): void => {
    const dropped = [...older, ...entries].filter(({ state }) => state === 'dropped')
    const lost = new Set(dropped.slice(0, Math.max(0, dropped.length - MOST_DROPPED)))
    if (lost.size === 0) return
    older = older.filter((entry) => !lost.has(entry))
    entries = entries.filter((entry) => !lost.has(entry))
  }

  return {
    add: (frame) => {
      const entry: Entry = { frame, told: false, state: 'waiting' }
      entries.push(entry)
      trim()
      return {
        told: () => {
          entry.told = true
        },
        stored: () => {
          entry.state = 'stored'
        },
        dropped: () => {
          entry.state = 'dropped'
          forgetDropped()
        },
      }
    },
    search: (point) => {
      const search = createBackwardSearch(point)
      const reaches = entries.toReversed().some(({ frame, told }) => told && search.found(frame))
      return reaches || complete ? search.wanted() : null
    },
    told: () => framesOf(() => true),
    dropped: () => framesOf(({ state }) => state === 'dropped'),
    isWaiting: () => entries.some(({ state }) => state === 'waiting'),
    isUntold: (key) => entries.some(({ frame, told }) => !told && finalKey(frame) === key),
    evicted: () => evicted,
    isWhole: () => complete,
    clear: () => {
      entries = []
      older = []
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
      else if (!forgetting.has(liveId))
        forgetting.set(liveId, timers.after(READABLE_AFTER_END_MS, () => forget(liveId)))
    },
    forget,
    close: () => {
      for (const cancel of forgetting.values()) cancel()
      forgetting.clear()
      lives.clear()
    },
  }
}
