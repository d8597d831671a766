import { SAMPLE_RATE } from '../../../ports/engine.ts'
import type { SegmenterState } from '../../speech/speech-segmenter.ts'
import type { Limits } from '../policy-limits.ts'
import { wordsInFullCaptions } from '../segments.ts'
import { cutAt, finalise, fixAll, openFixed, openWords, sampleAt, shownWords, tokensOf } from './state.ts'
import type { Made, State } from './state.ts'
import { UNSURE_DOUBTED } from './take-in.ts'
import { endsClause, endsSentence } from './words.ts'

/** Audio behind a cut, so that the words before the new ones are heard with them. */
const KEPT_BEHIND_CUT = 3 * SAMPLE_RATE

/** The words of a phrase become final; those of the next phrase, where they were heard with it, stay open. */
export const close = (state: State, { phrases }: SegmenterState, limits: Limits): Made => {
  const next = phrases[1]?.regions[0]
  const all = fixAll(state)
  if (next === undefined) return finalise(all, openFixed(all).length, limits)
  const behind = openFixed(all).findIndex(({ start, end }) => sampleAt((start + end) / 2) > next.start)
  return finalise(all, behind === -1 ? openFixed(all).length : behind, limits)
}

/** Where a buffer that is too long goes on: behind the last sentence of its older part, else a clause, else a word. */
export const cutOf = (state: State, end: number): { readonly at: number; readonly count: number } => {
  const old = state.fixed.filter((word) => sampleAt(word.end) <= end - KEPT_BEHIND_CUT)
  // The open segment is not torn where there are finals to cut behind.
  const done = old.slice(0, state.finals)
  const older = done.length > 0 ? done : old
  const [sentence, clause] = [endsSentence, endsClause].map((isEnd) => older.findLastIndex((word) => isEnd(word)))
  const last = [sentence, clause, older.length - 1].find((index) => index !== undefined && index >= 0) ?? -1
  const [word, next] = [state.fixed[last], state.fixed[last + 1]]
  // Nothing was fixed: the oldest audio goes unheard.
  if (word === undefined) return { at: end - KEPT_BEHIND_CUT, count: 0 }
  return { at: Math.max(state.bufferStart, sampleAt(next === undefined ? word.end : (word.end + Math.max(word.end, next.start)) / 2)), count: last + 1 }
}

/** Half of the tokens that Whisper's decoders have positions for. */
const MOST_TOKENS = 224

/** The buffer holds as much as a pass can hear, or go on from. */
export const isFull = (state: State, { buffer }: Limits): boolean => {
  const heard = state.heardEnd - state.bufferStart
  return heard >= buffer.longestHeard || (heard > 2 * KEPT_BEHIND_CUT && tokensOf(state.fixed).length > MOST_TOKENS)
}

/** Finals fill the room for what is to be heard: an engine that is behind would spend a pass on little that is new. */
export const isCrowded = (state: State, end: number, limits: Limits): boolean =>
  end > state.bufferStart + limits.buffer.longestHeard && openWords(state).length === 0 && cutOf(state, state.heardEnd).count > 0

export const cut = (state: State, end: number, limits: Limits): Made => {
  const { at, count } = cutOf(state, end)
  const { state: done, finals } = finalise(state, Math.max(0, count - state.finals), limits)
  return { finals, state: cutAt(done, at, count) }
}

/** The oldest word is due in mode final. Of words that are not fixed the rest is heard first, where there is more to hear. */
export const isDue = (state: State, clock: number, limits: Limits): boolean => {
  if (openFixed(state).length === 0 && state.heardEnd < clock) return false
  const oldest = openWords(state)[0]
  return limits.onlyFinals && oldest !== undefined && clock + limits.interval / 2 >= sampleAt(oldest.end) + limits.maxDelay
}

/** How many open words fill captions that nothing more fits into; all, where somebody has spoken too long without a pause. */
export const fullCaptions = (state: State, limits: Limits): number => {
  const words = openFixed(state)
  const [first] = words
  const isLong = first !== undefined && state.heardEnd - sampleAt(first.start) > limits.longestSegment
  const old = words.findLastIndex(({ end }) => sampleAt(end) <= state.heardEnd - UNSURE_DOUBTED) + 1
  return isLong ? Math.max(1, old) : Math.min(words.length, wordsInFullCaptions(shownWords(state), limits.shape))
}

/** Without a detector: nothing new was heard for so long that the phrase is over. */
export const isQuiet = (state: State, limits: Limits): boolean =>
  !limits.vad && openWords(state).length > 0 && state.heardEnd - state.changedAt >= limits.phraseSilence

/** The end of the phrases that are over already and fit into one pass: an engine that is behind hears them together. */
export const endOfClosed = (state: State, { phrases }: SegmenterState, limits: Limits): number =>
  phrases
    .filter(({ closedAt }) => closedAt !== null)
    .map(({ regions }) => regions.at(-1)?.end ?? 0)
    .findLast((end, i) => i === 0 || end - state.bufferStart <= limits.buffer.longestHeard) ?? state.heardEnd
