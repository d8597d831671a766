import type { Hypothesis } from '../../../ports/engine.ts'
import { SAMPLE_RATE } from '../../../ports/engine.ts'
import type { Region } from '../../speech/speech-segmenter.ts'
import { judge } from '../hypothesis-filters.ts'
import type { Verdict } from '../hypothesis-filters.ts'
import type { Limits } from '../policy-limits.ts'
import type { Pass } from '../policy.ts'
import { finalWords, fixAll, openFixed, openWords, sampleAt, tokensOf } from './state.ts'
import type { State } from './state.ts'
import { surerWords } from './surer-words.ts'
import { joined, spokenBehind, withoutEnd, wordsOf } from './words.ts'
import type { SpokenWord } from './words.ts'

/** A word that sounds nearer to the end of the audio than this may be half a word. */
const UNSURE = Math.round(0.4 * SAMPLE_RATE)
/** The same of a word that the model was not sure of: what follows may change it. */
export const UNSURE_DOUBTED = Math.round(1.5 * SAMPLE_RATE)
/** Probability of a word below which it is doubted. */
const DOUBTED = 0.5
/** Probability of punctuation below which a pause does not end a sentence. */
const SURE_END = 0.5
/** The same, from which a full window was never seen to say otherwise. */
const SURE_ENDING = 0.85

/** The words of a draft that will not be heard again: all that are not next to the end of running speech. */
const fixedBy = (words: ReadonlyArray<SpokenWord>, to: number, isSpeaking: boolean): number => {
  if (!isSpeaking) return words.length
  const unsure = words.findIndex(({ end, probability }) => sampleAt(end) > to - (probability < DOUBTED ? UNSURE_DOUBTED : UNSURE))
  return unsure === -1 ? words.length : unsure
}

const fix = (state: State, words: ReadonlyArray<SpokenWord>, to: number, isSpeaking: boolean): State => {
  const count = fixedBy(words, to, isSpeaking)
  const fixed = joined(state.fixed, words.slice(0, count), state.finals)
  const last = fixed.at(-1)
  // What ends the last word depends on the next one, which nobody has heard.
  const open = last !== undefined && count === words.length && fixed.length > state.finals ? [...fixed.slice(0, -1), withoutEnd(last)] : fixed
  const isEnd = !isSpeaking && last !== undefined && open !== fixed && last.tokens.length > last.spoken && last.endProbability >= SURE_ENDING
  return { ...state, fixed: open, pending: words.slice(count), ending: isEnd ? last : null }
}

/** A draft was sure what ends the phrase. */
export const isEnded = (state: State): boolean => state.ending !== null && openFixed(state).length > 0

/** The phrase ends as the draft behind its pause heard it: a full window would hear the same. */
export const endedAsHeard = (state: State): State =>
  state.ending === null
    ? state
    : { ...state, fixed: [...state.fixed.slice(0, -1), state.ending], ending: null, settledEnd: Math.max(state.settledEnd, state.heardEnd) }

/** Whether a pass went on from all fixed words, or heard those that are not final anew. */
const goesOnFrom = (state: State, { beginning }: Pass): boolean => beginning?.prefix.length === tokensOf(state.fixed).length

/** Seconds of words at the end that a full pass may do without. */
const MOST_MISSING = 1.5

/** Whether a pass that heard all open words anew came about as far as the drafts: models end too early at times. */
const isWhole = (state: State, words: ReadonlyArray<SpokenWord>): boolean =>
  (words.at(-1)?.end ?? 0) >= (openWords(state).at(-1)?.end ?? 0) - MOST_MISSING

const withSureEnd = (state: State): State => {
  const last = openFixed(state).at(-1)
  return last === undefined || last.endProbability >= SURE_END ? state : { ...state, fixed: [...state.fixed.slice(0, -1), withoutEnd(last)] }
}

/** What a full pass leaves: of words that are not final what it heard, and what drafts heard where they were surer. */
const settle = (state: State, pass: Pass, words: ReadonlyArray<SpokenWord>): State => {
  const isAnew = !goesOnFrom(state, pass)
  const known = isAnew ? { ...state, fixed: finalWords(state) } : state
  if (pass.isSpeaking !== true) {
    const fixed = joined(known.fixed, isAnew && words.length > 0 ? surerWords(openWords(state), words) : words, state.finals)
    return { ...withSureEnd({ ...known, fixed, pending: [] }), settledEnd: Math.max(state.settledEnd, pass.to) }
  }
  // What it leaves open is heard again by drafts.
  const made = fix(known, words, pass.to, true)
  return { ...made, settledEnd: Math.max(state.settledEnd, ...made.fixed.map(({ end }) => sampleAt(end))) }
}

/** Whether what a full pass heard of the open words is the better account of them. A doubtful text is better than none, where somebody spoke. */
const isBetter = (state: State, pass: Pass, words: ReadonlyArray<SpokenWord>, verdict: Verdict | 'loop', limits: Limits): boolean => {
  if (verdict === 'words') return goesOnFrom(state, pass) || isWhole(state, words)
  return verdict === 'silence' || (verdict !== 'loop' && limits.vad && openWords(state).length === 0)
}

/** What is known behind a pass. */
export const takeIn = (state: State, pass: Pass, hypothesis: Hypothesis, regions: ReadonlyArray<Region>, limits: Limits): State => {
  const verdict = hypothesis.isLoop === true ? 'loop' : judge(hypothesis, limits.vad)
  const isUsable = verdict === 'words' || verdict === 'silence'
  const known = goesOnFrom(state, pass) ? state.fixed : finalWords(state)
  const heard = wordsOf(hypothesis.words ?? [], pass, regions, limits)
  const words = verdict === 'silence' ? [] : spokenBehind(heard, known.at(-1)?.end ?? -Infinity)
  const isSpeaking = pass.isSpeaking === true
  if (pass.isDraft === true) return isUsable ? fix(state, words, pass.to, isSpeaking) : { ...state, isDoubted: true }
  const judged = { ...state, isDoubted: false, ending: null }
  if (isBetter(state, pass, words, verdict, limits)) return settle(judged, pass, words)
  const standing = isSpeaking ? judged : fixAll(judged)
  return { ...standing, settledEnd: Math.max(state.settledEnd, pass.to), context: isUsable ? state.context : [] }
}
