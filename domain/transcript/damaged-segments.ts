import type { TranscriptSegment } from './subtitles.ts'

/** A segment, or a placeholder for a segment that cannot be read. */
export interface ReadSegment extends TranscriptSegment {
  /** True: the text is empty, and the times are those of the gap. Absent for a segment that was read. */
  readonly damaged?: true
}

/** What is known about the session of the segments. */
interface SessionLanguages {
  readonly language: string
  /** Target languages of its translations. */
  readonly translations: ReadonlyArray<string>
}

const isSpeech = (segment: TranscriptSegment | null): segment is TranscriptSegment => segment?.kind === 'transcription'

/**
 * Replaces each null, an event that cannot be read, by a placeholder. Segments are in the order of the log. If a number
 * is missing between two segments of speech, the event contained that segment. Otherwise it contained a translation
 * that the segment before lacks, or no text.
 */
export const withDamagedSegments = (
  stored: ReadonlyArray<TranscriptSegment | null>, liveId: number, { language, translations }: SessionLanguages,
): ReadonlyArray<ReadSegment> => {
  const segments: Array<ReadSegment> = []
  const translated = new Set(stored.flatMap((known) => known === null ? [] : [`${known.segment} ${known.language}`]))
  let before: Pick<ReadSegment, 'segment' | 'start' | 'end' | 'language'> = { segment: 0, start: 0, end: 0, language }

  const add = (part: Pick<ReadSegment, 'kind' | 'segment' | 'start' | 'end' | 'language'>): void => {
    const damaged = { ...part, liveId, text: '', damaged: true } as const
    segments.push(damaged)
    if (isSpeech(damaged)) before = damaged
  }

  for (const [index, known] of stored.entries()) {
    if (known !== null) {
      segments.push(known)
      if (isSpeech(known)) before = known
      continue
    }
    const next = stored.slice(index).find(isSpeech)
    const { segment, end } = before
    if (next === undefined || next.segment > segment + 1) {
      const [until, spoken] = [Math.max(end, next?.start ?? end), before.language]
      add({ kind: 'transcription', segment: segment + 1, start: end, end: until, language: spoken })
      continue
    }
    const lacking = translations.find((target) => !translated.has(`${segment} ${target}`))
    if (lacking === undefined) continue
    translated.add(`${segment} ${lacking}`)
    add({ kind: 'translation', segment, start: before.start, end, language: lacking })
  }
  return segments
}
