import { SAMPLE_RATE } from '../../../ports/engine.ts'
import { lengthOf, speechBetween } from '../../speech/speech-segmenter.ts'
import type { Phrase, Region } from '../../speech/speech-segmenter.ts'
import type { Limits } from '../policy-limits.ts'
import type { Pass } from '../policy.ts'
import { cutAt, finalise, fixAll, isDoubted, lastWordEnd, openFixed } from './state.ts'
import type { Made, State } from './state.ts'

/** Silence across which the audio before it still helps to understand what follows. */
export const HOLD = 3 * SAMPLE_RATE

/** Behind a long silence the buffer begins anew, a little before the next speech. */
export const skipSilence = (state: State, phrase: Phrase, limits: Limits): State => {
  const next = phrase.regions.find(({ end }) => end === null || end > state.heardEnd)
  const isOpen = isDoubted(state) || state.pending.length > 0 || openFixed(state).length > 0
  if (next === undefined || isOpen) return state
  const isLong = state.fixed.length === 0 || next.start - lastWordEnd(state) > HOLD
  // A word's beginning, heard alone, is taken for noise.
  const near = state.fixed.length > 0 ? next : (phrase.regions.find(({ end }) => end === null || next.start - end < HOLD) ?? next)
  const start = Math.max(state.bufferStart, near.start - limits.buffer.preRoll)
  return isLong && start > state.bufferStart ? { ...cutAt(state, start, state.fixed.length), changedAt: start } : state
}

/** So much speech without a word is not what a pass may leave behind. */
const UNHEARD = Math.round(1.2 * SAMPLE_RATE)

/**
 * A model that is told what was said before may take the text for complete and hear nothing more. Speech that a pass left
 * without any word is heard anew, without text before it.
 */
export const hearAnew = (state: State, regions: ReadonlyArray<Region>, { to }: Pass, limits: Limits): Made => {
  const unheard = speechBetween(regions, lastWordEnd(state), to).filter(({ start, end }) => end - start > limits.buffer.preRoll)
  const [first] = unheard
  const isToldBefore = state.fixed.length > 0 || state.pending.length > 0 || state.context.length > 0
  if (first === undefined || lengthOf(unheard) < UNHEARD || !isToldBefore) return { state, finals: [] }
  const all = fixAll(state)
  const made = finalise(all, openFixed(all).length, limits)
  const start = Math.max(state.bufferStart, first.start - limits.buffer.preRoll)
  return { ...made, state: { ...cutAt(made.state, start, made.state.fixed.length), context: [], heardEnd: start, settledEnd: start } }
}
