import { VAD_FRAME } from '../../ports/engine.ts'
import type { Limits } from './policy-limits.ts'
import { earliestEnd, earliestStart } from '../speech/speech-segmenter.ts'
import type { Phrase, SegmenterState } from '../speech/speech-segmenter.ts'

/** Frames that are worth a call of the detector, for a call costs more than they do: 128 ms. */
const LEAST_FRAMES = 4

/** When a policy has something to do at the earliest, in samples; Infinity for never. */
export interface Plan {
  readonly heardEnd: number
  /** The buffer is as long as it may be. */
  readonly full: number
  /** Words that are known are due. */
  readonly due: number
  /** A pause that goes on is long enough. */
  readonly pause: number
}

/** When the words that are known, a pause, or the end of the phrase can be due at the earliest. */
const nextOf = (phrase: Phrase, speech: SegmenterState, limits: Limits, { heardEnd, full, due, pause }: Plan): number => {
  const { start, end } = phrase.regions.at(-1) ?? { start: 0, end: 0 }
  if (end === null) return Math.min(due, Math.max(heardEnd, start) + limits.interval, full)
  return Math.min(due, pause, (speech.quietSince ?? end) + limits.phraseSilence)
}

/**
 * Up to where the detector must have judged before anything can be due, whatever the audio holds: judging less would find
 * out nothing sooner, and cost more calls.
 *
 * @returns samples from the first audio
 */
export const looked = (speech: SegmenterState, limits: Limits, plan: Plan): number => {
  const least = speech.clock + LEAST_FRAMES * VAD_FRAME
  const phrase = speech.phrases.at(-1)
  const isOpen = phrase !== undefined && phrase.closedAt === null
  const isSpeaking = isOpen && phrase.regions.at(-1)?.end === null
  const begun = isSpeaking ? Infinity : earliestStart(speech) + limits.interval
  const known = isOpen ? nextOf(phrase, speech, limits, plan) : Infinity
  return Math.max(least, Math.min(begun, earliestEnd(speech, limits.phraseSilence), known))
}
