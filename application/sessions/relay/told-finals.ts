import { keyOf } from '../../lives/queries/resume-point.ts'
import type { TranscriptFrame } from '../../pipeline/signals.ts'

/** Finals whose keys are remembered: more than a worker, or one look into the log, tells again. */
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
  /** Of finals in their order those that were not told and have to be. */
  readonly owed: (frames: ReadonlyArray<TranscriptFrame>) => ReadonlyArray<TranscriptFrame>
  /** Whether nothing can lie between what was told and these. */
  readonly connects: (frames: ReadonlyArray<TranscriptFrame>, isWhole: boolean) => boolean
  /** All that is owed of the log stands behind this segment, or is a translation of it. */
  readonly lookFrom: () => number
}

/** Of a final: where its lines break may differ between who tells it and the log. */
const isSameText = (one: TranscriptFrame, other: TranscriptFrame): boolean =>
  one.text.replaceAll(/\s/gu, '') === other.text.replaceAll(/\s/gu, '')

interface Known {
  readonly frame: TranscriptFrame
  readonly isPast: boolean
}

export const toldFinals = (): ToldFinals => {
  /** By key, in the order of telling. */
  const known = new Map<string, Known>()
  /** What is of an earlier segment is owed only where it stands behind something that was told. */
  let firstSegment = 1

  const remember = (frame: TranscriptFrame, isPast: boolean): void => {
    const key = keyOf(frame)
    known.delete(key)
    known.set(key, { frame, isPast })
    const oldest = known.size > REMEMBERED ? known.keys().next().value : undefined
    if (oldest !== undefined) known.delete(oldest)
  }

  const knownOf = (frame: TranscriptFrame): Known | null => {
    const one = known.get(keyOf(frame))
    return one !== undefined && isSameText(one.frame, frame) ? one : null
  }

  const isKnown = (frame: TranscriptFrame): boolean => knownOf(frame) !== null

  return {
    add: (frame) => remember(frame, false),
    has: (frame) => knownOf(frame)?.isPast === false,
    begin: (past, isWhole) => {
      for (const frame of past) remember(frame, true)
      firstSegment = isWhole ? 1 : Math.min(...past.map(({ segment }) => segment))
    },
    owed: (frames) => {
      const first = frames.findIndex(isKnown)
      const isBehind = (index: number): boolean => first !== -1 && index > first
      return frames.filter((frame, index) => !isKnown(frame) && (isBehind(index) || frame.segment >= firstSegment))
    },
    connects: (frames, isWhole) => isWhole || frames.some(isKnown),
    lookFrom: () => {
      const last = [...known.values()].slice(-LATE_BY).map(({ frame }) => frame.segment)
      return Math.max(0, (last.length === 0 ? firstSegment : Math.min(...last)) - 1)
    },
  }
}
