import { finalTextKey } from '../../lives/queries/resume-point.ts'
import type { TranscriptFrame } from '../../pipeline/signals.ts'

/** Finals whose keys are remembered: more than a worker or a read of the log repeats. */
const MAX_REMEMBERED = 4000
/** A late final (a translation) belongs at most this many finals back. */
const MAX_LATE_FINALS = 200

/** Knows which finals of a session the listeners of this process have received, by segment and text. */
export interface SentFinals {
  readonly add: (frame: TranscriptFrame) => void
  /** Returns whether the final was sent here. */
  readonly has: (frame: TranscriptFrame) => boolean
  /** Returns whether the final was sent here, or is older than all listeners. */
  readonly isKnown: (frame: TranscriptFrame) => boolean
  /**
   * Sets the past: finals up to `term` that are older than all listeners and must not be sent (null: no past). `isSent`
   * is false for a past from the log. Such a past may contain finals that the worker has stored but not sent yet; these
   * are sent when they arrive.
   */
  readonly begin: (past: ReadonlyArray<TranscriptFrame>, term: number | null, isSent: boolean) => void
  /** Returns the finals, of a worker or of the log, that were not sent yet and must be sent, in order. */
  readonly unsent: <F extends TranscriptFrame>(
    frames: ReadonlyArray<F>,
    termOf: (frame: F) => number,
  ) => ReadonlyArray<F>
  /** Unsent finals of the log belong to segments after this one, or are its translations. */
  readonly readFromSegment: () => number
}

export const createSentFinals = (): SentFinals => {
  /** By key of segment and text, in the order of sending. */
  const known = new Map<string, { readonly segment: number; readonly isPast: boolean }>()
  /** The term of the past. Finals of lower terms are in the past, finals of higher terms are new. */
  let lastPastTerm = 0
  /** Finals of that term with a lower segment number are in the past, when no past final was found. */
  let firstSegment = 1
  /** True after the first new final. Stored but unsent finals of the past come before it. */
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

  /** Finals of one term are stored in the order of sending, so the past ends with its last known final. */
  const afterPast = <F extends TranscriptFrame>(frames: ReadonlyArray<F>): ReadonlyArray<F> => {
    const last = frames.findLastIndex((frame) => known.get(finalTextKey(frame))?.isPast === true)
    if (last !== -1) return frames.slice(last + 1)
    // A translation after a new segment is new too, even of an older segment.
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
      // A past without speech has only translations, which belong to earlier segments.
      lastPastTerm = term ?? 0
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
