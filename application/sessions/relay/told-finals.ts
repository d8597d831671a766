import { finalTextKey } from '../../lives/queries/resume-point.ts'
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
  /** It was told here, or stood there before anybody listened. */
  readonly isKnown: (frame: TranscriptFrame) => boolean
  /**
   * What stood there before anybody here listened, up to this term (null: nothing did): nothing of it is owed. Where the
   * log says so, what a worker has stored and not yet told (`isTold`) may be among it, and is told when that comes.
   */
  readonly begin: (past: ReadonlyArray<TranscriptFrame>, term: number | null, isTold: boolean) => void
  /** Of what a worker told, or the log holds, in its order, what was not told and has to be. */
  readonly owed: <F extends TranscriptFrame>(frames: ReadonlyArray<F>, termOf: (frame: F) => number) => ReadonlyArray<F>
  /** All that is owed of the log stands behind this segment, or is a translation of it. */
  readonly lookFrom: () => number
}

export const toldFinals = (): ToldFinals => {
  /** By wording, in the order of telling. */
  const known = new Map<string, { readonly segment: number; readonly isPast: boolean }>()
  /** Nobody stores anything in a lower term any more, and all of a higher one came later. */
  let lastPastTerm = 0
  /** Of that term, where nothing of the past was stored: what is of an earlier segment. */
  let firstSegment = 1
  /** What was stored and not yet told comes before all that is new: then nothing of the past is told any more. */
  let isPastOver = false

  const remember = (frame: TranscriptFrame, isPast: boolean): void => {
    const wording = finalTextKey(frame)
    known.delete(wording)
    known.set(wording, { segment: frame.segment, isPast })
    const oldest = known.size > REMEMBERED ? known.keys().next().value : undefined
    if (oldest !== undefined) known.delete(oldest)
  }

  const isKnown = (frame: TranscriptFrame): boolean => known.has(finalTextKey(frame))
  const isNew = (frame: TranscriptFrame): boolean => !isKnown(frame)

  /** Finals are told and stored in one order: of one term the past ends with its last that is found. */
  const behindPast = <F extends TranscriptFrame>(frames: ReadonlyArray<F>): ReadonlyArray<F> => {
    const last = frames.findLastIndex((frame) => known.get(finalTextKey(frame))?.isPast === true)
    if (last !== -1) return frames.slice(last + 1)
    // A translation that stands behind a new segment came after it, whatever it is of.
    const first = frames.findIndex(({ segment }) => segment >= firstSegment)
    return first === -1 ? [] : frames.slice(first)
  }

  return {
    add: (frame) => {
      if (isNew(frame)) isPastOver = true
      remember(frame, false)
    },
    has: (frame) => {
      const one = known.get(finalTextKey(frame))
      return one !== undefined && (isPastOver || !one.isPast)
    },
    isKnown,
    begin: (past, term, isTold) => {
      for (const frame of past) remember(frame, true)
      isPastOver = isTold
      const spoken = past.find(({ kind }) => kind === 'transcription')?.segment
      // Translations are of what was said before them.
      lastPastTerm = term ?? 0
      if (term !== null) firstSegment = spoken ?? Math.max(...past.map(({ segment }) => segment)) + 1
    },
    owed: (frames, termOf) => {
      const mixed = frames.filter((frame) => termOf(frame) === lastPastTerm)
      const later = frames.filter((frame) => termOf(frame) > lastPastTerm)
      return [...behindPast(mixed), ...later].filter(isNew)
    },
    lookFrom: () => {
      const last = [...known.values()].slice(-LATE_BY).map(({ segment }) => segment)
      const first = last.length === 0 ? firstSegment : Math.min(...last)
      return Math.max(0, first - 1 - (LATE_BY - last.length))
    },
  }
}
