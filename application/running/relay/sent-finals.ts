import type { TranscriptFrame } from '../../../domain/transcript/frame.ts'
import { finalTextKey } from '../../lives/queries/resume-point.ts'

/** Number of finals whose keys are remembered: more than a worker or a read of the log repeats. */
const MAX_REMEMBERED = 4000
/** A translation may follow at most this many finals after its segment. */
const MAX_LATE_FINALS = 200

/**
 * Records which finals of a session the listeners of this process have received, by segment and text. The past contains
 * the finals from before this process followed the session. These finals are not sent, because listeners read them from
 * memory or from the log.
 */
export interface SentFinals {
  readonly add: (frame: TranscriptFrame) => void
  /** Returns whether the final was sent here. */
  readonly has: (frame: TranscriptFrame) => boolean
  /** Returns whether the final was sent here or is in the past. */
  readonly isKnown: (frame: TranscriptFrame) => boolean
  /**
   * Sets the past. `term`: leadership term of its last final, or null without a past. Finals of lower terms are in the
   * past too. `isSent` is false for a past from the log. Such a past may contain finals that the worker has stored but
   * not sent yet. They are sent when they arrive.
   */
  readonly begin: (past: ReadonlyArray<TranscriptFrame>, term: number | null, isSent: boolean) => void
  /** Returns the finals, of a worker or of the log, that must be sent: they follow the past and were not sent yet. */
  readonly unsent: <F extends TranscriptFrame>(
    frames: ReadonlyArray<F>,
    termOf: (frame: F) => number,
  ) => ReadonlyArray<F>
  /** Returns the segment after which to read the log. Unsent finals belong to later segments or translate this one. */
  readonly readFromSegment: () => number
}

export const createSentFinals = (): SentFinals => {
  /** Sent finals and finals of the past, by `finalTextKey`, in the order of sending. */
  const known = new Map<string, { readonly segment: number; readonly isPast: boolean }>()
  /** Term of the last final of the past. Finals of lower terms are in the past. Finals of higher terms are new. */
  let lastPastTerm = 0
  /** In a list of that term without a known past final, the new finals begin with this segment. */
  let firstSegment = 1
  /** True after the first new final. All finals of the past that were stored but not sent come before it. */
  let isPastOver = false

  const remember = (frame: TranscriptFrame, isPast: boolean): void => {
    const key = finalTextKey(frame)
    known.delete(key)
    known.set(key, { segment: frame.segment, isPast })
    const oldest = known.size > MAX_REMEMBERED ? known.keys().next().value : undefined
    if (oldest !== undefined) known.delete(oldest)
  }

  const isKnown = (frame: TranscriptFrame): boolean => known.has(finalTextKey(frame))
  const isNew = (frame: TranscriptFrame): boolean => !isKnown(frame)

  /**
   * Returns the finals after the last known past final. Finals of one term are stored in the order of sending, so no
   * final after it is in the past.
   */
  const afterPast = <F extends TranscriptFrame>(frames: ReadonlyArray<F>): ReadonlyArray<F> => {
    const last = frames.findLastIndex((frame) => known.get(finalTextKey(frame))?.isPast === true)
    if (last !== -1) return frames.slice(last + 1)
    // A translation after a new segment is also new, even if it belongs to an older segment.
    const first = frames.findIndex(({ segment }) => segment >= firstSegment)
    return first === -1 ? [] : frames.slice(first)
  }

  return {
    add: (frame) => {
      if (isNew(frame)) isPastOver = true
      remember(frame, false)
    },
    has: (frame) => {
      const final = known.get(finalTextKey(frame))
      return final !== undefined && (isPastOver || !final.isPast)
    },
    isKnown,
    begin: (past, term, isSent) => {
      for (const frame of past) remember(frame, true)
      isPastOver = isSent
      const firstSpoken = past.find(({ kind }) => kind === 'transcription')?.segment
      lastPastTerm = term ?? 0
      // A past without speech has only translations of earlier segments, so new segments have higher numbers.
      if (term !== null) firstSegment = firstSpoken ?? Math.max(...past.map(({ segment }) => segment)) + 1
    },
    unsent: (frames, termOf) => {
      const mixed = frames.filter((frame) => termOf(frame) === lastPastTerm)
      const later = frames.filter((frame) => termOf(frame) > lastPastTerm)
      return [...afterPast(mixed), ...later].filter(isNew)
    },
    readFromSegment: () => {
      const last = [...known.values()].slice(-MAX_LATE_FINALS).map(({ segment }) => segment)
      const first = last.length === 0 ? firstSegment : Math.min(...last)
      return Math.max(0, first - 1 - (MAX_LATE_FINALS - last.length))
    },
  }
}
