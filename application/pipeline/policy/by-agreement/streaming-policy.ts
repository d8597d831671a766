import { withoutPunctuation } from '../../../../domain/transcript/captions.ts'
import { type Hypothesis, SAMPLE_RATE } from '../../../ports/engine.ts'
import { withKnownTimes } from './alignment.ts'
import { judge } from '../hypothesis-filters.ts'
import { commit, confirm, newWordsOf } from './local-agreement.ts'
import { type BufferPass, lastRegion, type Step } from './next-step.ts'
import type { Limits } from '../policy-limits.ts'
import {
  confirmAll, finalise, fixedWords, openWords, type PolicyState, sampleAt, settle, startBufferAt, startingBefore,
} from './policy-state.ts'
import type { Outcome as PolicyOutcome } from '../policy.ts'
import { partialSegment, wordsInFullCaptions } from '../segments.ts'
import type { Phrase, Region } from '../../speech/speech-segmenter.ts'
import { timeWords } from './word-times.ts'
import { spokenForm, textOf, type Word } from '../words.ts'

export interface Outcome extends PolicyOutcome {
  readonly state: PolicyState
}

/** Moves a buffer without words to shortly before the next speech region. Its start never moves back. */
export const skipSilence = (state: PolicyState, phrase: Phrase, limits: Limits): PolicyState => {
  const next = phrase.regions.find(({ end }) => end === null || end > state.bufferStart)
  const start = Math.max(state.bufferStart, (next?.start ?? 0) - limits.buffer.preRoll)
  const empty = state.agreement.committed.length === 0 && state.agreement.pending.length === 0
  if (!empty || start === state.bufferStart) return state
  return { ...state, bufferStart: start, transcribedEnd: Math.max(start, state.transcribedEnd), changedAt: start }
}

/** Makes all fixed words final. */
const finaliseAll = (state: PolicyState, limits: Limits): Outcome => {
  // If the last pass found no words, the words of the last draft are the only text of the segment. Words after the
  // transcribed audio are left out, because a later pass finds them.
  const settled = openWords(state).length === 0
    ? { ...state, settled: startingBefore(state.shown, state.transcribedEnd) }
    : state
  return { ...finalise(settled, fixedWords(settled).length, limits), partial: null }
}

/** Ends the phrase and makes its words final. */
export const close = (state: PolicyState, phrase: Phrase, limits: Limits): Outcome => {
  const { end } = lastRegion(phrase)
  if (end !== null) return finaliseAll(settle(state, end), limits)
  // The buffer keeps a little audio, because the next word may already have begun.
  const done = finaliseAll(confirmAll(state), limits)
  const start = Math.min(state.changedAt, sampleAt(done.state.agreement.committedEnd)) - limits.buffer.overlap
  return { ...done, state: startBufferAt(done.state, Math.max(state.bufferStart, start)) }
}

/** Makes all words final, because no further pass will run. */
export const finishNow = (state: PolicyState, limits: Limits): Outcome =>
  finaliseAll(settle(state, Number.MAX_SAFE_INTEGER), limits)

/** Makes due words final. If all words are unconfirmed, the oldest word becomes final. */
export const release = (state: PolicyState, phrase: Phrase, limits: Limits): Outcome => {
  const { end } = lastRegion(phrase)
  if (end !== null && state.transcribedEnd >= end) return close(state, phrase, limits)
  const sure = fixedWords(state).length > 0 ? state : { ...state, agreement: confirm(state.agreement, 1).state }
  return finaliseAll(sure, limits)
}

/** Makes words final that do not fit into one caption, preferably up to a pause, and shows the other words. */
const show = (state: PolicyState, limits: Limits): Outcome => {
  const full = wordsInFullCaptions(fixedWords(state), limits.shape)
  const count = full > 0 && state.settled.length > 0 ? state.settled.length : full
  const { state: done, finals } = finalise(state, count, limits)
  const words = openWords(done)
  const isSame = textOf(words) === textOf(done.shown)
  if (limits.onlyFinals || words.length === 0 || isSame) return { state: done, finals, partial: null }
  const partial = partialSegment(words, limits.shape, done.segment, done.lastFinalEnd)
  return { state: { ...done, shown: words }, finals, partial }
}

/** Starts the buffer again at `at`. The segment ends there if the buffer was full or the segment is long. */
export const settleAt = (
  state: PolicyState,
  { at, full }: Extract<Step, { readonly kind: 'settle' }>,
  limits: Limits,
): Outcome => {
  const settled = settle(state, at)
  const [first, last] = [settled.settled[0], settled.settled.at(-1)]
  const isLong = first !== undefined && last !== undefined && sampleAt(last.end - first.start) >= limits.buffer.longest
  if (full || isLong) return finaliseAll(settled, limits)
  const isCrowded = wordsInFullCaptions(settled.settled, limits.shape) > 0
  const { state: done, finals } = finalise(settled, isCrowded ? state.settled.length : 0, limits)
  const shown = show(done, limits)
  return { ...shown, finals: [...finals, ...shown.finals] }
}

/** Cuts a full buffer, which ends at `end`, in running speech. Its reliable words become final. */
const cut = (state: PolicyState, end: number, limits: Limits): Outcome => {
  const { pending } = state.agreement
  const reliableCount = pending.findIndex((word) => sampleAt(word.end) > end - limits.buffer.unsettled)
  const minCount = fixedWords(state).length > 0 ? 0 : Math.min(1, pending.length - 1)
  const count = reliableCount === -1 ? pending.length : Math.max(reliableCount, minCount)
  const sure = { ...state, agreement: confirm(state.agreement, count).state }
  const { state: done, finals } = finalise(sure, fixedWords(sure).length, limits)
  const { committed, committedEnd } = done.agreement
  const reliableEnd = committed.length === 0 ? end : Math.min(end, sampleAt(committedEnd))
  // The overlap is transcribed again, because word times are estimates.
  const start = Math.max(state.bufferStart + Math.round(limits.buffer.longest / 4), reliableEnd - limits.buffer.overlap)
  const shown = show(startBufferAt(done, start), limits)
  return { ...shown, finals: [...finals, ...shown.finals] }
}

const sameWord = (a: Word, b: Word): boolean => spokenForm(a.text) === spokenForm(b.text)

/** Commits words on which two passes agree, and words older than max_delay. */
const agree = (state: PolicyState, words: ReadonlyArray<Word>, to: number, limits: Limits): PolicyState => {
  const known = startingBefore(state.agreement.committed, to)
  const fresh = newWordsOf(state.agreement, withKnownTimes(known, words), 'keep')
  const agreed = commit(state.agreement, fresh, sameWord).state
  const overdue = agreed.pending.findIndex(({ end }) => sampleAt(end) > to - limits.maxDelay)
  const agreement = confirm(agreed, overdue === -1 ? agreed.pending.length : overdue).state
  return { ...state, agreement, latest: words }
}

/** Returns the words of a pass with estimated times. */
const wordsOfPass = (
  speech: ReadonlyArray<Region>,
  { from, to }: BufferPass,
  hypothesis: Hypothesis,
  limits: Limits,
): ReadonlyArray<Word> => {
  const seconds = (sample: number): number => (sample - from) / SAMPLE_RATE
  const regions = speech.map(({ start, end }) => ({ start: seconds(start), end: seconds(end ?? to) }))
  const segments = limits.punctuation
    ? hypothesis.segments
    : hypothesis.segments.map((segment) => ({ ...segment, text: withoutPunctuation(segment.text) }))
  const offset = from / SAMPLE_RATE
  return timeWords(segments, regions, seconds(to))
    .map(({ start, end, text }) => ({ text, start: start + offset, end: end + offset }))
}

/**
 * Applies the hypothesis of a pass.
 *
 * @param speech the speech regions in the audio of the pass
 */
export const applyPass = (
  state: PolicyState,
  speech: ReadonlyArray<Region>,
  pass: BufferPass,
  hypothesis: Hypothesis,
  limits: Limits,
): Outcome => {
  const verdict = judge(hypothesis, limits.vad)
  const words = verdict === 'words' ? wordsOfPass(speech, pass, hypothesis, limits) : []
  const agreed = verdict === 'words' || verdict === 'silence' ? agree(state, words, pass.to, limits) : state
  const isChanged = textOf(openWords(agreed)) !== textOf(openWords(state))
  const after = {
    ...agreed,
    transcribedEnd: Math.max(state.transcribedEnd, pass.to),
    passEnd: pass.to,
    changedAt: isChanged ? pass.to : state.changedAt,
  }
  if (pass.full) return cut(after, pass.to, limits)
  const isSilent = !limits.vad && verdict !== 'doubtful' && openWords(after).length === 0
  const start = Math.max(after.bufferStart, pass.to - limits.buffer.overlap)
  return show(isSilent ? startBufferAt(after, start) : after, limits)
}
