import type { Hypothesis } from '../../../ports/engine.ts'
import { SAMPLE_RATE } from '../../../ports/engine.ts'
import { lengthOf, speechBetween } from '../../speech/speech-segmenter.ts'
import type { Region } from '../../speech/speech-segmenter.ts'
import { causeOf, judge } from '../hypothesis-filters.ts'
import type { Verdict } from '../hypothesis-filters.ts'
import type { Limits } from '../policy-limits.ts'
import type { LeftOut, Pass } from '../policy.ts'
import { finalWords, fixAll, isDoubted, openFixed, openWords, sampleAt, tokensOf } from './state.ts'
import type { State } from './state.ts'
import { sureness, surerWords } from './surer-words.ts'
import { joined, spokenBehind, withoutEnd, wordsOf } from './words.ts'
import type { SpokenWord } from './words.ts'

/** A word that sounds nearer to the end of the audio than this may be half a word. */
const UNSURE = Math.round(0.4 * SAMPLE_RATE)
/** The same of a word that the model was not sure of: what follows may change it. */
export const UNSURE_DOUBTED = Math.round(1.5 * SAMPLE_RATE)
/** Probability of a word below which it is doubted. */
const DOUBTED = 0.5
/** Probability of a word from which it becomes final as a draft heard it. */
const SURE = 0.6

/** Other words are heard again, in a full window, before they become final. */
export const isSure = (words: ReadonlyArray<SpokenWord>): boolean => words.every(({ probability }) => probability >= SURE)

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

const hasEnd = (word: SpokenWord | undefined): word is SpokenWord => word !== undefined && word.tokens.length > word.spoken

const fix = (state: State, words: ReadonlyArray<SpokenWord>, to: number, isSpeaking: boolean): State => {
  const count = fixedBy(words, to, isSpeaking)
  const fixed = joined(state.fixed, words.slice(0, count), state.finals)
  const last = fixed.at(-1)
  // What ends the last word depends on the next one, which nobody has heard.
  const open = last !== undefined && count === words.length && fixed.length > state.finals ? [...fixed.slice(0, -1), withoutEnd(last)] : fixed
  const isEnd = !isSpeaking && open !== fixed && hasEnd(last) && last.endProbability >= SURE_ENDING
  return { ...state, fixed: open, pending: words.slice(count), draft: isDoubted(state) ? 'doubted' : isEnd ? last : null }
}

/** The phrase ended as the draft behind its pause heard it, where that was sure: a full window would hear the same. Else null. */
export const endedAsHeard = (state: State): State | null => {
  const { draft, fixed, heardEnd } = state
  if (draft === null || draft === 'doubted' || !isSure(openFixed(state)) || openFixed(state).length === 0) return null
  return { ...state, fixed: [...fixed.slice(0, -1), draft], draft: null, settledEnd: heardEnd }
}

/** The words that a pass went on from: all that are fixed; or it heard those that are not final anew. */
const knownTo = (state: State, { beginning }: Pass): ReadonlyArray<SpokenWord> =>
  beginning?.prefix.length === tokensOf(state.fixed).length ? state.fixed : finalWords(state)

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
  const known = knownTo(state, pass)
  if (pass.isSpeaking !== true) {
    const heard = known === state.fixed || words.length === 0 ? words : surerWords(openWords(state), words)
    const settled = { ...state, fixed: joined(known, heard, state.finals), pending: [] }
    return { ...withSureEnd(settled), settledEnd: Math.max(state.settledEnd, pass.to) }
  }
  // What it leaves open is heard again by drafts.
  const made = fix({ ...state, fixed: known }, words, pass.to, true)
  return { ...made, settledEnd: Math.max(state.settledEnd, ...made.fixed.map(({ end }) => sampleAt(end))) }
}

/** Whether what a full pass heard of the open words is the better account of them. A doubtful text is better than none, where somebody spoke. */
const isBetter = (state: State, pass: Pass, words: ReadonlyArray<SpokenWord>, verdict: Verdict | 'loop', limits: Limits): boolean => {
  if (verdict === 'words') return knownTo(state, pass) === state.fixed || isWhole(state, words)
  return verdict === 'silence' || (verdict !== 'loop' && limits.vad && openWords(state).length === 0)
}

/** What one pass heard, before it is taken in. */
interface HeardPass {
  readonly pass: Pass
  readonly verdict: Verdict | 'loop'
  /** With what it said again. */
  readonly all: ReadonlyArray<SpokenWord>
  readonly words: ReadonlyArray<SpokenWord>
  /** Where somebody spoke behind the last word known, in samples, and where that word ends. */
  readonly speech: ReturnType<typeof speechBetween>
  readonly from: number
}

/** A burst of sound as short as this, by itself, is none where the model is no surer of it: it says `I'm sorry` of a siren. */
const BURST = 2 * SAMPLE_RATE
const SURE_OF_BURST = 0.5

/** Silence before it; what is nearer to the words before is the rest of what was said. */
const ALONE = SAMPLE_RATE

const isMadeUp = ({ words, speech, from }: HeardPass): boolean => {
  const isBurst = lengthOf(speech) < BURST && (speech[0]?.start ?? 0) - from > ALONE
  return isBurst && words.length > 0 && sureness(words) < SURE_OF_BURST
}

interface Taken {
  readonly state: State
  readonly leftOut: LeftOut | null
}

const isUsable = ({ verdict }: HeardPass): boolean => verdict === 'words' || verdict === 'silence'

const takeFull = (before: State, heard: HeardPass, limits: Limits): Taken => {
  const { pass, verdict, all } = heard
  const state = { ...before, draft: null }
  const isUnsure = verdict !== 'silence' && pass.isSpeaking !== true && isMadeUp(heard)
  const words = isUnsure ? [] : heard.words
  const isTaken = isBetter(state, pass, words, isUnsure ? 'silence' : verdict, limits)
  const left = all.length - (isTaken ? words.length : 0)
  const cause = verdict === 'words' ? (isUnsure ? 'unsure' : 'repeated') : causeOf(verdict)
  const leftOut = left === 0 ? null : ({ cause, words: left } as const)
  if (isTaken) return { state: settle(state, pass, words), leftOut }
  const standing = pass.isSpeaking === true ? state : fixAll(state)
  const context = isUsable(heard) ? state.context : []
  return { state: { ...standing, settledEnd: Math.max(state.settledEnd, pass.to), context }, leftOut }
}

/** What is known behind a pass. */
export const takeIn = (state: State, pass: Pass, hypothesis: Hypothesis, regions: ReadonlyArray<Region>, limits: Limits): Taken => {
  const verdict = hypothesis.isLoop === true ? 'loop' : judge(hypothesis, limits.vad)
  const all = wordsOf(hypothesis.words ?? [], pass, regions, limits)
  const end = knownTo(state, pass).at(-1)?.end ?? -Infinity
  const words = verdict === 'silence' ? [] : spokenBehind(all, end)
  const from = end * SAMPLE_RATE
  const heard: HeardPass = { pass, verdict, all, words, speech: speechBetween(regions, from, pass.to), from }
  if (pass.isDraft !== true) return takeFull(state, heard, limits)
  return { state: isUsable(heard) ? fix(state, words, pass.to, pass.isSpeaking === true) : { ...state, draft: 'doubted' }, leftOut: null }
}
