import { SAMPLE_RATE } from '../../../ports/engine.ts'
import type { SegmenterState } from '../../speech/speech-segmenter.ts'
import type { Limits } from '../policy-limits.ts'
import { wordsInFullCaptions } from '../segments.ts'
import {
  cutAt, finalise, fixAll, openFixed, openWords, sampleAt, shownWords, type State, type StateWithFinals, tokensOf,
} from './state.ts'
import { DOUBTED_END_SAMPLES } from './apply-pass.ts'
import { endsClause, endsSentence } from './words.ts'

/** Audio that stays in the buffer after a cut, as context for new words. */
const KEPT_SAMPLES = 3 * SAMPLE_RATE

/** Makes the words of a phrase final. Words of the next phrase in the same pass stay open. */
export const close = (state: State, { phrases }: SegmenterState, limits: Limits): StateWithFinals => {
  const next = phrases[1]?.regions[0]
  const all = fixAll(state)
  if (next === undefined) return finalise(all, openFixed(all).length, limits)
  const firstOfNext = openFixed(all).findIndex(({ start, end }) => sampleAt((start + end) / 2) > next.start)
  return finalise(all, firstOfNext === -1 ? openFixed(all).length : firstOfNext, limits)
}

/**
 * Returns where to cut the older part of a long buffer: after its last sentence, its last clause or its last word, the
 * first of these that exists. `at`: the sample of the cut. `count`: the number of fixed words before it.
 */
export const cutOf = (state: State, end: number): { readonly at: number; readonly count: number } => {
  const old = state.fixed.filter((word) => sampleAt(word.end) <= end - KEPT_SAMPLES)
  // Prefers a cut after final words, which does not split the open segment.
  const oldFinals = old.slice(0, state.finals)
  const older = oldFinals.length > 0 ? oldFinals : old
  const [sentence, clause] = [endsSentence, endsClause].map((isEnd) => older.findLastIndex((word) => isEnd(word)))
  const last = [sentence, clause, older.length - 1].find((index) => index !== undefined && index >= 0) ?? -1
  const [word, next] = [state.fixed[last], state.fixed[last + 1]]
  // Without fixed words the oldest audio is dropped.
  if (word === undefined) return { at: end - KEPT_SAMPLES, count: 0 }
  const cutSeconds = next === undefined ? word.end : (word.end + Math.max(word.end, next.start)) / 2
  return { at: Math.max(state.bufferStart, sampleAt(cutSeconds)), count: last + 1 }
}

/** Half of the 448 token positions of Whisper's decoders. */
const MAX_TOKENS = 224

/** Returns whether the buffer has reached the audio or token limit of a pass. */
export const isFull = (state: State, { buffer }: Limits): boolean => {
  const length = state.transcribedEnd - state.bufferStart
  return length >= buffer.longestWithContext || (length > 2 * KEPT_SAMPLES && tokensOf(state.fixed).length > MAX_TOKENS)
}

/** Returns whether final words take so much of the buffer that a pass would cover little new audio. */
export const isCrowded = (state: State, end: number, limits: Limits): boolean =>
  end > state.bufferStart + limits.buffer.longestWithContext &&
  openWords(state).length === 0 &&
  cutOf(state, state.transcribedEnd).count > 0

export const cut = (state: State, end: number, limits: Limits): StateWithFinals => {
  const { at, count } = cutOf(state, end)
  const { state: done, finals } = finalise(state, Math.max(0, count - state.finals), limits)
  return { finals, state: cutAt(done, at, count) }
}

/** Returns whether the oldest word is due in mode `final`. If no word is fixed, new audio is transcribed first. */
export const isDue = (state: State, clock: number, limits: Limits): boolean => {
  if (openFixed(state).length === 0 && state.transcribedEnd < clock) return false
  const oldest = openWords(state)[0]
  if (!limits.onlyFinals || oldest === undefined) return false
  return clock + limits.interval / 2 >= sampleAt(oldest.end) + limits.maxDelay
}

/** Counts the open words that fill complete captions. After very long speech, counts all reliable words. */
export const fullCaptions = (state: State, limits: Limits): number => {
  const words = openFixed(state)
  const [first] = words
  const isLong = first !== undefined && state.transcribedEnd - sampleAt(first.start) > limits.longestSegment
  const old = words.findLastIndex(({ end }) => sampleAt(end) <= state.transcribedEnd - DOUBTED_END_SAMPLES) + 1
  return isLong ? Math.max(1, old) : Math.min(words.length, wordsInFullCaptions(shownWords(state), limits.shape))
}

/** Returns whether a phrase without a detector has ended, because passes found no new words for long enough. */
export const isQuiet = (state: State, limits: Limits): boolean =>
  !limits.vad && openWords(state).length > 0 && state.transcribedEnd - state.changedAt >= limits.phraseSilence

/**
 * Returns the end of the last closed phrase that fits into one pass together with the first phrase. So a busy engine
 * transcribes several phrases at once.
 */
export const endOfClosed = (state: State, { phrases }: SegmenterState, limits: Limits): number =>
  phrases
    .filter(({ closedAt }) => closedAt !== null)
    .map(({ regions }) => regions.at(-1)?.end ?? 0)
    .findLast((end, i) => i === 0 || end - state.bufferStart <= limits.buffer.longestWithContext)
  ?? state.transcribedEnd
