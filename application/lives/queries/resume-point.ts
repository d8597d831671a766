import type { TranscriptFrame } from '../../../domain/transcript/frame.ts'


/** The earlier final segments (finals) that a new socket requests. */
export type ResumePoint =
  /** All finals of later segments. Also the translations of this segment, because they may arrive after it. */
  | { readonly kind: 'after'; readonly segment: number }
  /** All finals of the last `count` segments. */
  | { readonly kind: 'last'; readonly count: number }

type Final = Pick<TranscriptFrame, 'kind' | 'segment'>

/** Returns whether the socket requests this final. */
export type IsWanted = (final: Final) => boolean

const afterSegment =
  (segment: number, withTranslations: boolean): IsWanted =>
  (final) =>
    final.segment > segment || (withTranslations && final.segment === segment && final.kind === 'translation')

/**
 * Finds the place in the log from which a listener must read. Pass the finals to `found`, newest first, until it
 * returns true. All requested finals follow that final in the log. `found` never returns true for a translation,
 * because a translation may be stored after later segments.
 */
export const createBackwardSearch = (point: ResumePoint) => {
  let segmentsToFind = point.kind === 'last' ? point.count : 0
  let firstSegment = 1
  return {
    found: ({ kind, segment }: Final): boolean => {
      if (kind !== 'transcription') return false
      if (point.kind === 'after') return segment <= point.segment
      if (segmentsToFind === 0) return true
      segmentsToFind -= 1
      firstSegment = segment
      return false
    },
    /** Call this after the search. */
    wanted: (): IsWanted =>
      point.kind === 'after' ? afterSegment(point.segment, true) : afterSegment(firstSegment - 1, false),
  }
}

/** Identifies a final within its session. */
export const finalKey = ({ kind, segment, language }: Pick<TranscriptFrame, 'kind' | 'segment' | 'language'>): string =>
  `${segment} ${kind} ${language}`

/** Identifies a final and its text. Line breaks are ignored. */
export const finalTextKey = (frame: Pick<TranscriptFrame, 'kind' | 'segment' | 'language' | 'text'>): string =>
  `${finalKey(frame)} ${frame.text.replaceAll(/\s/gu, '')}`
