import { VAD_FRAME } from '../../ports/engine.ts'
import type { Limits } from './policy-limits.ts'
import { earliestEnd, earliestStart, type Phrase, type SegmenterState } from '../speech/speech-segmenter.ts'

/** Fewer frames (128 ms) are not worth a call of the detector, because the call itself costs more. */
const MIN_FRAMES = 4

/** The earliest times at which a policy has something to do, in samples. Infinity: never. */
export interface DetectionPlan {
  readonly transcribedEnd: number
  /** When the buffer reaches its longest length. */
  readonly full: number
  /** When known words are due. */
  readonly due: number
  /** When a running pause is long enough. */
  readonly pause: number
}

/** Returns the earliest sample at which known words, a pause or the end of an open phrase can need a step. */
const phraseDueAt = (
  phrase: Phrase,
  speech: SegmenterState,
  limits: Limits,
  { transcribedEnd, full, due, pause }: DetectionPlan,
): number => {
  const { start, end } = phrase.regions.at(-1) ?? { start: 0, end: 0 }
  if (end === null) return Math.min(due, Math.max(transcribedEnd, start) + limits.interval, full)
  return Math.min(due, pause, (speech.quietSince ?? end) + limits.phraseSilence)
}

/**
 * Returns the sample up to which the detector should run next. Nothing can be due before this sample, so shorter runs
 * would only cost more calls.
 *
 * @returns samples from the first audio
 */
export const nextDetectionAt = (speech: SegmenterState, limits: Limits, plan: DetectionPlan): number => {
  const least = speech.clock + MIN_FRAMES * VAD_FRAME
  const phrase = speech.phrases.at(-1)
  const isOpen = phrase !== undefined && phrase.closedAt === null
  const isSpeaking = isOpen && phrase.regions.at(-1)?.end === null
  const onset = isSpeaking ? Infinity : earliestStart(speech) + limits.interval
  const known = isOpen ? phraseDueAt(phrase, speech, limits, plan) : Infinity
  return Math.max(least, Math.min(onset, earliestEnd(speech, limits.phraseSilence), known))
}
