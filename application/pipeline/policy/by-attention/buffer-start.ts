import { SAMPLE_RATE } from '../../../ports/engine.ts'
import { lengthOf, type Phrase, type Region, speechBetween } from '../../speech/speech-segmenter.ts'
import type { Limits } from '../policy-limits.ts'
import type { Pass } from '../policy.ts'
import {
  cutAt, finalise, fixAll, isDoubted, lastWordEnd, openFixed, type State, type StateWithFinals,
} from './state.ts'

/** Audio before a silence of up to this length still helps the model. */
export const HOLD_SAMPLES = 3 * SAMPLE_RATE

/** Starts a new buffer after a long silence, shortly before the next speech. */
export const skipSilence = (state: State, phrase: Phrase, limits: Limits): State => {
  const next = phrase.regions.find(({ end }) => end === null || end > state.transcribedEnd)
  const isOpen = isDoubted(state) || state.pending.length > 0 || openFixed(state).length > 0
  if (next === undefined || isOpen) return state
  const isLong = state.fixed.length === 0 || next.start - lastWordEnd(state) > HOLD_SAMPLES
  // Keeps an earlier region that ends shortly before the speech, because models treat an isolated word start as noise.
  const isNear = ({ end }: Region): boolean => end === null || next.start - end < HOLD_SAMPLES
  const near = state.fixed.length > 0 ? next : (phrase.regions.find(isNear) ?? next)
  const start = Math.max(state.bufferStart, near.start - limits.buffer.preRoll)
  return isLong && start > state.bufferStart ? { ...cutAt(state, start, state.fixed.length), changedAt: start } : state
}

/** If a pass returns no words for at least this much speech, the model has missed it. */
const MISSED_SPEECH_SAMPLES = Math.round(1.2 * SAMPLE_RATE)

/**
 * Restarts the buffer at speech for which a pass returned no words. Earlier text can make a model stop at once, as if
 * the text were complete. So the next pass gets no earlier text.
 */
export const retryMissedSpeech = (
  state: State,
  regions: ReadonlyArray<Region>,
  { to }: Pass,
  limits: Limits,
): StateWithFinals => {
  const missed = speechBetween(regions, lastWordEnd(state), to)
    .filter(({ start, end }) => end - start > limits.buffer.preRoll)
  const [first] = missed
  const hadContext = state.fixed.length > 0 || state.pending.length > 0 || state.context.length > 0
  if (first === undefined || lengthOf(missed) < MISSED_SPEECH_SAMPLES || !hadContext) return { state, finals: [] }
  const all = fixAll(state)
  const { state: done, finals } = finalise(all, openFixed(all).length, limits)
  const start = Math.max(state.bufferStart, first.start - limits.buffer.preRoll)
  const restarted = { ...cutAt(done, start, done.fixed.length), context: [], transcribedEnd: start, settledEnd: start }
  return { finals, state: restarted }
}
