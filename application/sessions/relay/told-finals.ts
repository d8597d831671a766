import { wordingOf } from '../../lives/queries/resume-point.ts'
import type { TranscriptFrame } from '../../pipeline/signals.ts'

/** Finals whose wordings are remembered: more than a worker, or one look into the log, tells again. */
const REMEMBERED = 4000
/** So many finals back one that comes late, a translation, may belong. */
const LATE_BY = 200

/** Which finals of a live the listeners of this process have had, by number and text. */
export interface ToldFinals {
  readonly add: (frame: TranscriptFrame) => void
  /** It was told here. */
  readonly has: (frame: TranscriptFrame) => boolean
  /**
   * What stood there before anybody here listened: nothing of it is owed. What a worker has stored and not yet told may
   * be among it, and is told when that comes.
   */
  readonly begin: (past: ReadonlyArray<TranscriptFrame>, isWhole: boolean) => void
  /** Of what a worker told, in its order, what was not told and has to be. */
  readonly owed: (frames: ReadonlyArray<TranscriptFrame>) => ReadonlyArray<TranscriptFrame>
  /** Of what the log holds the same: before what is known of it stands the past alone. */
  readonly missing: (stored: ReadonlyArray<TranscriptFrame>) => ReadonlyArray<TranscriptFrame>
  /** Whether nothing can lie between what was told and these. */
  readonly connects: (frames: ReadonlyArray<TranscriptFrame>, isWhole: boolean) => boolean
  /** All that is owed of the log stands behind this segment, or is a translation of it. */
  readonly lookFrom: () => number
}

export const toldFinals = (): ToldFinals => {
  /** By wording, in the order of telling. */
  const known = new Map<string, { readonly segment: number; readonly isPast: boolean }>()
  /** What is of an earlier segment is owed only where it stands behind something that was told. */
  let firstSegment = 1
  /** What was stored and not yet told comes before all that is new: now nothing of the past is told any more. */
  let isPastOver = false

  const remember = (frame: TranscriptFrame, isPast: boolean): void => {
    const wording = wordingOf(frame)
    known.delete(wording)
    known.set(wording, { segment: frame.segment, isPast })
    const oldest = known.size > REMEMBERED ? known.keys().next().value : undefined
    if (oldest !== undefined) known.delete(oldest)
  }

  const isKnown = (frame: TranscriptFrame): boolean => known.has(wordingOf(frame))
  const isNew = (frame: TranscriptFrame): boolean => !isKnown(frame)

  /** All from the first new segment on: a translation that stands behind it came after it, whatever it is of. */
  const behindPast = (frames: ReadonlyArray<TranscriptFrame>): ReadonlyArray<TranscriptFrame> => {
    const first = frames.findIndex(({ segment }) => segment >= firstSegment)
    return first === -1 ? [] : frames.slice(first)
  }

  /** Those before the first that is known; all where none is. */
  const beginningOf = (frames: ReadonlyArray<TranscriptFrame>): ReadonlyArray<TranscriptFrame> => {
    const first = frames.findIndex(isKnown)
    return first === -1 ? frames : frames.slice(0, first)
  }

  return {
    add: (frame) => {
      if (isNew(frame)) isPastOver = true
      remember(frame, false)
    },
    has: (frame) => {
      const one = known.get(wordingOf(frame))
      return one !== undefined && (isPastOver || !one.isPast)
    },
    begin: (past, isWhole) => {
      for (const frame of past) remember(frame, true)
      const spoken = past.find(({ kind }) => kind === 'transcription')?.segment
      // Translations are of what was said before them.
      firstSegment = isWhole ? 1 : (spoken ?? Math.max(...past.map(({ segment }) => segment)) + 1)
    },
    owed: (frames) => [...behindPast(beginningOf(frames)), ...frames.slice(beginningOf(frames).length).filter(isNew)],
    missing: (stored) => {
      const behind = stored.slice(beginningOf(stored).length)
      return behind.length === 0 ? behindPast(stored) : behind.filter(isNew)
    },
    connects: (frames, isWhole) => isWhole || frames.some(isKnown),
    lookFrom: () => {
      const last = [...known.values()].slice(-LATE_BY).map(({ segment }) => segment)
      return Math.max(0, (last.length === 0 ? firstSegment : Math.min(...last)) - 1)
    },
  }
}
