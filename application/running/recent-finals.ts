import type { TranscriptFrame } from '../../domain/transcript/frame.ts'
import { READABLE_AFTER_END_MS } from '../lives/policies/forget-text.ts'
import { createBackwardSearch, finalKey, type IsWanted, type ResumePoint } from '../lives/queries/resume-point.ts'
import type { Timers } from '../ports/timers.ts'

/** Number of stored finals of one session that are kept in memory. Finals that could not be stored are kept too. */
const DEFAULT_KEPT_FINALS = 500
/** Maximum number of finals of one session that could not be stored. Beyond this number the oldest are lost. */
const MAX_DROPPED = 10_000

interface Entry {
  readonly frame: TranscriptFrame
  sent: boolean
  state: 'waiting' | 'stored' | 'dropped'
}

export interface AddedFinal {
  readonly sent: () => void
  readonly stored: () => void
  readonly dropped: () => void
}

/** The newest finals of one session, in the order in which they are sent. */
export interface LiveFinals {
  readonly add: (frame: TranscriptFrame) => AddedFinal
  /** Returns which finals a socket requests from `point` on. Null when memory does not reach back that far. */
  readonly search: (point: ResumePoint) => IsWanted | null
  readonly sent: () => ReadonlyArray<TranscriptFrame>
  /** The sent finals that could not be stored. */
  readonly dropped: () => ReadonlyArray<TranscriptFrame>
  /** Returns whether a final is not stored yet. */
  readonly isWaiting: () => boolean
  /** Returns whether the final is not sent yet. It may already be stored. */
  readonly isUnsent: (key: string) => boolean
  /** Returns the key of the newest final that is no longer in memory but only in the log. Null when there is none. */
  readonly evicted: () => string | null
  /** Returns whether memory reaches back to the first final of the session. */
  readonly isWhole: () => boolean
}

/** The newest finals of the sessions of this process, so a listener that returns soon costs no read. */
export interface RecentFinals {
  /** `fromStart`: true when no earlier process sent finals of this session. */
  readonly open: (liveId: number, fromStart: boolean) => LiveFinals
  readonly of: (liveId: number) => LiveFinals | undefined
  /** Call this when the session has ended. Its finals stay for a minute, or are erased immediately. */
  readonly ended: (liveId: number, erase: boolean) => void
  /** Call this when another process sends the next finals, so the finals in memory are outdated. */
  readonly forget: (liveId: number) => void
  readonly close: () => void
}

const createLiveFinals = (fromStart: boolean, kept: number): LiveFinals & { readonly clear: () => void } => {
  /** The newest finals, without gaps. */
  let entries: Array<Entry> = []
  /** Older finals that could not be stored. */
  let older: Array<Entry> = []
  let isComplete = fromStart
  let evicted: string | null = null

  const trim = (): void => {
    const isDone = (entry: Entry | undefined): entry is Entry => entry?.sent === true && entry.state !== 'waiting'
    for (let [first] = entries; entries.length > kept && isDone(first); [first] = entries) {
      entries.shift()
      if (first.state === 'dropped') older.push(first)
      else evicted = finalKey(first.frame)
      isComplete = false
    }
  }

  const framesOf = (isSelected: (entry: Entry) => boolean): ReadonlyArray<TranscriptFrame> =>
    [...older, ...entries].flatMap((entry) => (entry.sent && isSelected(entry) ? [entry.frame] : []))

  const forgetDropped = (): void => {
    const dropped = [...older, ...entries].filter(({ state }) => state === 'dropped')
    const lost = new Set(dropped.slice(0, Math.max(0, dropped.length - MAX_DROPPED)))
    if (lost.size === 0) return
    older = older.filter((entry) => !lost.has(entry))
    entries = entries.filter((entry) => !lost.has(entry))
  }

  return {
    add: (frame) => {
      const entry: Entry = { frame, sent: false, state: 'waiting' }
      entries.push(entry)
      trim()
      return {
        sent: () => {
          entry.sent = true
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
      const reaches = entries.toReversed().some(({ frame, sent }) => sent && search.found(frame))
      return reaches || isComplete ? search.wanted() : null
    },
    sent: () => framesOf(() => true),
    dropped: () => framesOf(({ state }) => state === 'dropped'),
    isWaiting: () => entries.some(({ state }) => state === 'waiting'),
    isUnsent: (key) => entries.some(({ frame, sent }) => !sent && finalKey(frame) === key),
    evicted: () => evicted,
    isWhole: () => isComplete,
    clear: () => {
      entries = []
      older = []
      isComplete = false
    },
  }
}

export const createRecentFinals = (timers: Timers, kept: number = DEFAULT_KEPT_FINALS): RecentFinals => {
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
