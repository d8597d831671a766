import type { TranscriptFrame } from '../../pipeline/signals.ts'

/** From where on a socket wants the finals that were told before it came (D58). */
export type ResumePoint =
  /** Every final of segments behind this one, and its translations too: they come later than itself. */
  | { readonly kind: 'after'; readonly segment: number }
  /** Those of the last so many segments. */
  | { readonly kind: 'last'; readonly count: number }

type Final = Pick<TranscriptFrame, 'kind' | 'segment'>

/** Whether the final is wanted; of `last`, the first wanted segment is found by `startOf`. */
export type Wanted = (final: Final) => boolean

const behind =
  (segment: number, withTranslations: boolean): Wanted =>
  (final) =>
    final.segment > segment || (withTranslations && final.segment === segment && final.kind === 'translation')

/**
 * Looks through finals, newest first, for the place where `point` begins: all that is wanted lies behind the final that
 * answers `found`. A translation always stands behind its segment, so the segment itself is the mark.
 */
export const searchBackwards = (point: ResumePoint) => {
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
    /** After the search. */
    wanted: (): Wanted => (point.kind === 'after' ? behind(point.segment, true) : behind(first - 1, false)),
  }
}

/** The same final, in whatever object. */
export const keyOf = ({ kind, segment, language }: Pick<TranscriptFrame, 'kind' | 'segment' | 'language'>): string =>
  `${segment} ${kind} ${language}`

/** The same final with the same text, wherever its lines break. */
export const wordingOf = (frame: Pick<TranscriptFrame, 'kind' | 'segment' | 'language' | 'text'>): string =>
  `${keyOf(frame)} ${frame.text.replaceAll(/\s/gu, '')}`
