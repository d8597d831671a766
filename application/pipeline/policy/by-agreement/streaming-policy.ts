import { withoutPunctuation } from '../../../../domain/transcript/captions.ts'
import type { Hypothesis } from '../../../ports/engine.ts'
import { SAMPLE_RATE } from '../../../ports/engine.ts'
import { withKnownTimes } from './alignment.ts'
import { judge } from '../hypothesis-filters.ts'
import { commit, confirm, insert } from './local-agreement.ts'
import { lastRegion } from './next-step.ts'
import type { BufferPass, Step } from './next-step.ts'
import type { Limits } from '../policy-limits.ts'
import { before, confirmAll, finalise, fixedWords, forget, openWords, sampleAt, settle } from './policy-state.ts'
import type { PolicyState } from './policy-state.ts'
import type { Outcome as Told } from '../policy.ts'
import { partialSegment, wordsInFullCaptions } from '../segments.ts'
import type { Phrase, Region } from '../../speech/speech-segmenter.ts'
import { timeWords } from './word-times.ts'
import type { Word } from '../words.ts'
import { spokenForm, textOf } from '../words.ts'

export interface Outcome extends Told {
  readonly state: PolicyState
}

/** An empty buffer begins a little before the next region, never in audio that is done with. */
export const skipSilence = (state: PolicyState, phrase: Phrase, limits: Limits): PolicyState => {
  const next = phrase.regions.find(({ end }) => end === null || end > state.bufferStart)
  const start = Math.max(state.bufferStart, (next?.start ?? 0) - limits.buffer.preRoll)
  const empty = state.agreement.committed.length === 0 && state.agreement.pending.length === 0
  if (!empty || start === state.bufferStart) return state
  return { ...state, bufferStart: start, heardEnd: Math.max(start, state.heardEnd), changedAt: start }
}

/** Everything fixed becomes final. */
const finaliseAll = (state: PolicyState, limits: Limits): Outcome => {
  // What was shown and then not heard again is the only account of its segment; behind a cut it is heard again.
  const settled = openWords(state).length === 0 ? { ...state, settled: before(state.shown, state.heardEnd) } : state
  return { ...finalise(settled, fixedWords(settled).length, limits), partial: null }
}

/** The phrase is over. */
export const close = (state: PolicyState, phrase: Phrase, limits: Limits): Outcome => {
  const { end } = lastRegion(phrase)
  if (end !== null) return finaliseAll(settle(state, end), limits)
  // Though nothing new was heard, the next word may sound already.
  const done = finaliseAll(confirmAll(state), limits)
  const start = Math.min(state.changedAt, sampleAt(done.state.agreement.committedEnd)) - limits.buffer.overlap
  return { ...done, state: forget(done.state, Math.max(state.bufferStart, start)) }
}

/** No pass will come any more: what was heard is all there is. */
export const giveUp = (state: PolicyState, limits: Limits): Outcome => finaliseAll(settle(state, Number.MAX_SAFE_INTEGER), limits)

/** Words that are due become final, confirmed or not where nothing more is coming to confirm them. */
export const release = (state: PolicyState, phrase: Phrase, limits: Limits): Outcome => {
  const { end } = lastRegion(phrase)
  if (end !== null && state.heardEnd >= end) return close(state, phrase, limits)
  const sure = fixedWords(state).length > 0 ? state : { ...state, agreement: confirm(state.agreement, 1).state }
  return finaliseAll(sure, limits)
}

/** Makes finals of what one caption cannot hold, up to a pause where there is one, and shows the rest. */
const show = (state: PolicyState, limits: Limits): Outcome => {
  const full = wordsInFullCaptions(fixedWords(state), limits.shape)
  const { state: done, finals } = finalise(state, full > 0 && state.settled.length > 0 ? state.settled.length : full, limits)
  const words = openWords(done)
  const isSame = textOf(words) === textOf(done.shown)
  if (limits.onlyFinals || words.length === 0 || isSame) return { state: done, finals, partial: null }
  return { state: { ...done, shown: words }, finals, partial: partialSegment(words, limits.shape, done.segment, done.lastFinalEnd) }
}

/** Goes on behind what was heard; a segment ends there when the buffer was full or the segment is as long as one. */
export const settleAt = (state: PolicyState, { at, full }: Extract<Step, { readonly kind: 'settle' }>, limits: Limits): Outcome => {
  const settled = settle(state, at)
  const [first, last] = [settled.settled[0], settled.settled.at(-1)]
  const isLong = first !== undefined && last !== undefined && sampleAt(last.end - first.start) >= limits.buffer.longest
  if (full || isLong) return finaliseAll(settled, limits)
  const isCrowded = wordsInFullCaptions(settled.settled, limits.shape) > 0
  const { state: done, finals } = finalise(settled, isCrowded ? state.settled.length : 0, limits)
  const shown = show(done, limits)
  return { ...shown, finals: [...finals, ...shown.finals] }
}

/** Cuts a full buffer in running speech: what is settled becomes final, a little of it is heard again. */
const cut = (state: PolicyState, full: number, limits: Limits): Outcome => {
  const { pending } = state.agreement
  const late = pending.findIndex(({ end }) => sampleAt(end) > full - limits.buffer.unsettled)
  const least = fixedWords(state).length > 0 ? 0 : Math.min(1, pending.length - 1)
  const sure = { ...state, agreement: confirm(state.agreement, late === -1 ? pending.length : Math.max(late, least)).state }
  const { state: done, finals } = finalise(sure, fixedWords(sure).length, limits)
  const behind = done.agreement.committed.length === 0 ? full : Math.min(full, sampleAt(done.agreement.committedEnd))
  const start = Math.max(state.bufferStart + Math.round(limits.buffer.longest / 4), behind - limits.buffer.overlap)
  const shown = show(forget(done, start), limits)
  return { ...shown, finals: [...finals, ...shown.finals] }
}

const sameWord = (a: Word, b: Word): boolean => spokenForm(a.text) === spokenForm(b.text)

/** Commits what two passes agree on, and what is older than max_delay. */
const agree = (state: PolicyState, words: ReadonlyArray<Word>, to: number, limits: Limits): PolicyState => {
  const known = before(state.agreement.committed, to)
  const fresh = insert(state.agreement, withKnownTimes(known, words), 'keep')
  const agreed = commit(state.agreement, fresh, sameWord).state
  const overdue = agreed.pending.findIndex(({ end }) => sampleAt(end) > to - limits.maxDelay)
  const agreement = confirm(agreed, overdue === -1 ? agreed.pending.length : overdue).state
  return { ...state, agreement, latest: words }
}

const heardWords = (speech: ReadonlyArray<Region>, { from, to }: BufferPass, hypothesis: Hypothesis, limits: Limits): ReadonlyArray<Word> => {
  const seconds = (sample: number): number => (sample - from) / SAMPLE_RATE
  const regions = speech.map(({ start, end }) => ({ start: seconds(start), end: seconds(end ?? to) }))
  const segments = limits.punctuation
    ? hypothesis.segments
    : hypothesis.segments.map((segment) => ({ ...segment, text: withoutPunctuation(segment.text) }))
  const offset = from / SAMPLE_RATE
  return timeWords(segments, regions, seconds(to)).map(({ start, end, text }) => ({ text, start: start + offset, end: end + offset }))
}

/**
 * Takes in what a pass heard.
 *
 * @param speech where in its audio somebody spoke
 */
export const hear = (state: PolicyState, speech: ReadonlyArray<Region>, pass: BufferPass, hypothesis: Hypothesis, limits: Limits): Outcome => {
  const verdict = judge(hypothesis, limits.vad)
  const words = verdict === 'words' ? heardWords(speech, pass, hypothesis, limits) : []
  const agreed = verdict === 'words' || verdict === 'silence' ? agree(state, words, pass.to, limits) : state
  const isChanged = textOf(openWords(agreed)) !== textOf(openWords(state))
  const heard = {
    ...agreed,
    heardEnd: Math.max(state.heardEnd, pass.to),
    passEnd: pass.to,
    changedAt: isChanged ? pass.to : state.changedAt,
  }
  if (pass.full) return cut(heard, pass.to, limits)
  const isSilent = !limits.vad && verdict !== 'doubtful' && openWords(heard).length === 0
  return show(isSilent ? forget(heard, Math.max(heard.bufferStart, pass.to - limits.buffer.overlap)) : heard, limits)
}
