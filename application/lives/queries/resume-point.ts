import type { TranscriptFrame } from '../../pipeline/signals.ts'

/** Which of the earlier finals a new socket wants. */
export type ResumePoint =
  /** All finals of later segments, and the translations of this segment, because they follow their segment. */
  | { readonly kind: 'after'; readonly segment: number }
  /** All finals of the last `count` segments. */
  | { readonly kind: 'last'; readonly count: number }

type Final = Pick<TranscriptFrame, 'kind' | 'segment'>

/** Whether the socket wants this final. */
export type IsWanted = (final: Final) => boolean

const afterSegment =
  (segment: number, withTranslations: boolean): IsWanted =>
  (final) =>
    final.segment > segment || (withTranslations && final.segment === segment && final.kind === 'translation')

/**
 * Searches finals, newest first, for the start of `point`. All wanted finals follow the final for which `found` is
 * true. That final is never a translation, because a translation always follows its segment.
 */
export const createBackwardSearch = (point: ResumePoint) => {
  let left = point.kind === 'last' ? point.count : 0
  let first = 1
  return {
    found: ({ kind, segment }: Final): boolean => {
      if (kind !== 'transcription') return false
      if (point.kind === 'after') return segment <= point.segment
      if (left === 0) return true
      left -= 1
      first = segment
      return false
    },
    /** Call this after the search. */
    wanted: (): IsWanted =>
      point.kind === 'after' ? afterSegment(point.segment, true) : afterSegment(first - 1, false),
  }
}

/** Identifies a final within its session. */
export const finalKey = ({ kind, segment, language }: Pick<TranscriptFrame, 'kind' | 'segment' | 'language'>): string =>
  `${segment} ${kind} ${language}`

/** Identifies a final and its text. Line breaks are ignored. */
export const finalTextKey = (frame: Pick<TranscriptFrame, 'kind' | 'segment' | 'language' | 'text'>): string =>
  `${finalKey(frame)} ${frame.text.replaceAll(/\s/gu, '')}`
