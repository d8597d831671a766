import { VAD_FRAME } from '../../ports/engine.ts'
import { lastRegion } from './next-step.ts'
import type { Limits } from './policy-limits.ts'
import { fixedWords, sampleAt } from './policy-state.ts'
import type { PolicyState } from './policy-state.ts'
import { earliestEnd, earliestStart } from '../speech/speech-segmenter.ts'
import type { Phrase, SegmenterState } from '../speech/speech-segmenter.ts'

/** Frames that are worth a call of the detector, for a call costs more than they do: 128 ms. */
const LEAST_FRAMES = 4

/** When the words that are known, a pause, or the end of the phrase can be due at the earliest. */
const nextOf = (phrase: Phrase, state: PolicyState, speech: SegmenterState, limits: Limits): number => {
  const { start, end } = lastRegion(phrase)
  const oldest = [...fixedWords(state).slice(0, 1), ...state.agreement.pending.slice(0, 1)].map((word) => sampleAt(word.end) + limits.maxDelay)
  const released = limits.onlyFinals ? Math.min(...oldest) - limits.interval / 2 : Infinity
  const full = state.bufferStart + limits.buffer.longest
  if (end === null) return Math.min(released, Math.max(state.heardEnd, start) + limits.interval, full)
  const paused = end > state.bufferStart ? end + limits.pause.length : Infinity
  return Math.min(released, paused, (speech.quietSince ?? end) + limits.phraseSilence)
}

/**
 * Up to where the detector must have judged before anything can be due, whatever the audio holds: judging less would find
 * out nothing sooner, and cost more calls.
 *
 * @returns samples from the first audio
 */
export const nextLook = (state: PolicyState, speech: SegmenterState, limits: Limits): number => {
  const least = speech.clock + LEAST_FRAMES * VAD_FRAME
  const phrase = speech.phrases.at(-1)
  const isOpen = phrase !== undefined && phrase.closedAt === null
  const isSpeaking = isOpen && lastRegion(phrase).end === null
  const begun = isSpeaking ? Infinity : earliestStart(speech) + limits.interval
  const known = isOpen ? nextOf(phrase, state, speech, limits) : Infinity
  return Math.max(least, Math.min(begun, earliestEnd(speech, limits.phraseSilence), known))
}
