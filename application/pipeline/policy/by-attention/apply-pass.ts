import { type Hypothesis, SAMPLE_RATE } from '../../../ports/engine.ts'
import { lengthOf, type Region, speechBetween } from '../../speech/speech-segmenter.ts'
import { discardCauseOf, judge, type Verdict } from '../hypothesis-filters.ts'
import type { Limits } from '../policy-limits.ts'
import type { DiscardedWords, Pass } from '../policy.ts'
import { finalWords, fixAll, isDoubted, openFixed, openWords, sampleAt, type State, tokensOf } from './state.ts'
import { meanConfidence, combineTranscriptions } from './combine-transcriptions.ts'
import { appendWords, newWordsAfter, type SpokenWord, withoutEnd, wordsOf } from './words.ts'

// A draft is a quick pass for the newest words. It fixes words, so later drafts do not transcribe them again. A full
// pass transcribes the open words again. A word is open until it is in a final segment.

/** During speech, words this close to the end of the audio are not fixed, because they may be cut off. */
const UNSURE_END_SAMPLES = Math.round(0.4 * SAMPLE_RATE)
/** A word with a lower probability than this is doubted. */
const DOUBTED_PROBABILITY = 0.5
/** Like UNSURE_END_SAMPLES, but for doubted words, which later audio often changes. */
export const DOUBTED_END_SAMPLES = Math.round(1.5 * SAMPLE_RATE)
/** A word of a draft with this probability can become final without a full pass. */
const SURE_PROBABILITY = 0.6

/** Returns whether words can become final without a full pass. */
export const isSure = (words: ReadonlyArray<SpokenWord>): boolean =>
  words.every(({ probability }) => probability >= SURE_PROBABILITY)

/** Punctuation with a lower probability than this does not end a sentence at a pause. */
const SURE_PUNCTUATION = 0.5
/** Punctuation with this probability needs no full pass: in measurements a full pass never changed it. */
const CERTAIN_PUNCTUATION = 0.85

/** Counts the words of a draft that are fixed: all words that are not at the end of running speech. */
const fixedBy = (words: ReadonlyArray<SpokenWord>, to: number, isSpeaking: boolean): number => {
  if (!isSpeaking) return words.length
  const unsure = words.findIndex(({ end, probability }) =>
    sampleAt(end) > to - (probability < DOUBTED_PROBABILITY ? DOUBTED_END_SAMPLES : UNSURE_END_SAMPLES))
  return unsure === -1 ? words.length : unsure
}

const hasPunctuation = (word: SpokenWord | undefined): word is SpokenWord =>
  word !== undefined && word.tokens.length > word.spoken

/** Fixes the words of a draft that later audio will not change. The other words become pending. */
const fix = (state: State, words: ReadonlyArray<SpokenWord>, to: number, isSpeaking: boolean): State => {
  const count = fixedBy(words, to, isSpeaking)
  const fixed = appendWords(state.fixed, words.slice(0, count), state.finals)
  const last = fixed.at(-1)
  // The punctuation after the last word depends on the next word, which is not known yet.
  const isLastOpen = last !== undefined && count === words.length && fixed.length > state.finals
  const open = isLastOpen ? [...fixed.slice(0, -1), withoutEnd(last)] : fixed
  const isEnd = !isSpeaking && open !== fixed && hasPunctuation(last) && last.endProbability >= CERTAIN_PUNCTUATION
  const draft = isDoubted(state) ? 'doubted' : isEnd ? last : null
  return { ...state, fixed: open, pending: words.slice(count), draft }
}

/** Ends the phrase with the words of the last draft if they are sure, which saves a full pass. Otherwise null. */
export const endFromDraft = (state: State): State | null => {
  const { draft, fixed, transcribedEnd } = state
  if (draft === null || draft === 'doubted' || !isSure(openFixed(state)) || openFixed(state).length === 0) return null
  return { ...state, fixed: [...fixed.slice(0, -1), draft], draft: null, settledEnd: transcribedEnd }
}

/** Returns the words that a pass continued from: all fixed words, or only the final words. */
const knownTo = (state: State, { beginning }: Pass): ReadonlyArray<SpokenWord> =>
  beginning?.prefix.length === tokensOf(state.fixed).length ? state.fixed : finalWords(state)

/** A full pass may end at most this much before the drafts. */
const MAX_MISSING_SECONDS = 1.5

/** Returns whether a full pass transcribed nearly as much audio as the drafts. Models sometimes stop too early. */
const isWhole = (state: State, words: ReadonlyArray<SpokenWord>): boolean =>
  (words.at(-1)?.end ?? 0) >= (openWords(state).at(-1)?.end ?? 0) - MAX_MISSING_SECONDS

/** Removes the punctuation after the last word if it is uncertain. */
const withSureEnd = (state: State): State => {
  const last = openFixed(state).at(-1)
  return last === undefined || last.endProbability >= SURE_PUNCTUATION
    ? state
    : { ...state, fixed: [...state.fixed.slice(0, -1), withoutEnd(last)] }
}

/** Applies the words of a full pass. Where drafts had a higher confidence, their words stay. */
const settle = (state: State, pass: Pass, words: ReadonlyArray<SpokenWord>): State => {
  const known = knownTo(state, pass)
  if (pass.isSpeaking !== true) {
    const combined =
      known === state.fixed || words.length === 0 ? words : combineTranscriptions(openWords(state), words)
    const settled = { ...state, fixed: appendWords(known, combined, state.finals), pending: [] }
    return { ...withSureEnd(settled), settledEnd: Math.max(state.settledEnd, pass.to) }
  }
  // Drafts transcribe the remaining open words again.
  const next = fix({ ...state, fixed: known }, words, pass.to, true)
  return { ...next, settledEnd: Math.max(state.settledEnd, ...next.fixed.map(({ end }) => sampleAt(end))) }
}

/**
 * Returns whether a full pass replaces the open words. During detected speech, a doubtful text is better than no text.
 */
const isBetter = (
  state: State,
  pass: Pass,
  words: ReadonlyArray<SpokenWord>,
  verdict: Verdict | 'loop',
  limits: Limits,
): boolean => {
  if (verdict === 'words') return knownTo(state, pass) === state.fixed || isWhole(state, words)
  return verdict === 'silence' || (verdict !== 'loop' && limits.vad && openWords(state).length === 0)
}

interface PassResult {
  readonly pass: Pass
  readonly verdict: Verdict | 'loop'
  /** All words, including repetitions of known words. */
  readonly all: ReadonlyArray<SpokenWord>
  readonly words: ReadonlyArray<SpokenWord>
  /** The speech after the last known word. */
  readonly speech: ReturnType<typeof speechBetween>
  /** End of the last known word, in samples. */
  readonly from: number
}

/** A sound of less than this length, with silence before it, is a burst: it may be noise. */
const MAX_BURST_SAMPLES = 2 * SAMPLE_RATE
/** Words of a burst need this mean confidence, because models write words such as `I'm sorry` for a siren. */
const MIN_BURST_CONFIDENCE = 0.5

/** A burst has more than this silence before it. A closer sound belongs to the earlier speech. */
const MIN_SILENCE_SAMPLES = SAMPLE_RATE

/** Returns whether the model probably invented the words for a noise. */
const isInvented = ({ words, speech, from }: PassResult): boolean => {
  const isBurst = lengthOf(speech) < MAX_BURST_SAMPLES && (speech[0]?.start ?? 0) - from > MIN_SILENCE_SAMPLES
  return isBurst && words.length > 0 && meanConfidence(words) < MIN_BURST_CONFIDENCE
}

interface AppliedPass {
  readonly state: State
  readonly discarded: DiscardedWords | null
}

const isUsable = ({ verdict }: PassResult): boolean => verdict === 'words' || verdict === 'silence'

const applyFullPass = (before: State, result: PassResult, limits: Limits): AppliedPass => {
  const { pass, verdict, all } = result
  const state = { ...before, draft: null }
  const isUnsure = verdict !== 'silence' && pass.isSpeaking !== true && isInvented(result)
  const words = isUnsure ? [] : result.words
  const isTaken = isBetter(state, pass, words, isUnsure ? 'silence' : verdict, limits)
  const discardedCount = all.length - (isTaken ? words.length : 0)
  const cause = verdict === 'words' ? (isUnsure ? 'unsure' : 'repeated') : discardCauseOf(verdict)
  const discarded = discardedCount === 0 ? null : ({ cause, words: discardedCount } as const)
  if (isTaken) return { state: settle(state, pass, words), discarded }
  const unchanged = pass.isSpeaking === true ? state : fixAll(state)
  const context = isUsable(result) ? state.context : []
  return { state: { ...unchanged, settledEnd: Math.max(state.settledEnd, pass.to), context }, discarded }
}

export const applyPass = (
  state: State,
  pass: Pass,
  hypothesis: Hypothesis,
  regions: ReadonlyArray<Region>,
  limits: Limits,
): AppliedPass => {
  const verdict = hypothesis.isLoop === true ? 'loop' : judge(hypothesis, limits.vad)
  const all = wordsOf(hypothesis.words ?? [], pass, regions, limits)
  const end = knownTo(state, pass).at(-1)?.end ?? -Infinity
  const words = verdict === 'silence' ? [] : newWordsAfter(all, end)
  const from = end * SAMPLE_RATE
  const result: PassResult = { pass, verdict, all, words, speech: speechBetween(regions, from, pass.to), from }
  if (pass.isDraft !== true) return applyFullPass(state, result, limits)
  if (!isUsable(result)) return { state: { ...state, draft: 'doubted' }, discarded: null }
  return { state: fix(state, words, pass.to, pass.isSpeaking === true), discarded: null }
}
