import type { Hypothesis } from '../../../ports/engine.ts'
import { SAMPLE_RATE } from '../../../ports/engine.ts'
import type { Phrase, Region, SegmenterState } from '../../speech/speech-segmenter.ts'
import { judge } from '../hypothesis-filters.ts'
import { looked } from '../next-look.ts'
import type { Limits } from '../policy-limits.ts'
import type { Outcome, Pass, Step, StreamingPolicy } from '../policy.ts'
import { partialSegment, wordsInFullCaptions } from '../segments.ts'
import { textOf } from '../words.ts'
import { cutAt, finalise, finalWords, initialState, lastWordEnd, openFixed, openWords, sampleAt, shownWords } from './state.ts'
import type { Made, State } from './state.ts'
import { endsClause, endsSentence, joined, withoutEnd, wordsOf } from './words.ts'
import type { SpokenWord } from './words.ts'

/** A word that sounds nearer to the end of the audio than this may be half a word. */
const UNSURE = Math.round(0.4 * SAMPLE_RATE)
/** Silence across which the audio before it still helps to understand what follows. */
const HOLD = 3 * SAMPLE_RATE
/** A region is found a little after it began. */
const ONSET = SAMPLE_RATE
/** Audio behind a cut, so that the words before the new ones are heard with them. */
const KEPT_BEHIND_CUT = 3 * SAMPLE_RATE

/** The same of a word that the model was not sure of: what follows may change it. */
const UNSURE_DOUBTED = Math.round(1.5 * SAMPLE_RATE)
/** Probability of a word below which it is doubted. */
const DOUBTED = 0.5
/** Probability of a word below which it is not shown while it may change, and how near to the end of the audio none is. */
const UNLIKELY = 0.4
const UNSEEN = Math.round(0.15 * SAMPLE_RATE)
/** Probability of a word below which it is heard again before it becomes final. */
const SURE = 0.3
/** Probability of punctuation below which a pause does not end a sentence. */
const SURE_END = 0.5

interface Last {
  readonly phrase: Phrase
  readonly region: Region
  /** Up to where somebody spoke. */
  readonly end: number
}

const lastOf = ({ phrases, clock }: SegmenterState): Last => {
  const phrase = phrases[0] ?? { regions: [], dips: [], closedAt: null }
  const region = phrase.regions.at(-1) ?? { start: clock, end: clock }
  return { phrase, region, end: region.end ?? clock }
}

const tokensOf = (words: ReadonlyArray<SpokenWord>): ReadonlyArray<number> => words.flatMap(({ tokens }) => tokens)

const isSure = (words: ReadonlyArray<SpokenWord>): boolean => words.every(({ probability }) => probability >= SURE)

/** A draft goes on from what is fixed; a full pass hears again what is not final, where the drafts were not sure of it. */
const passOf = (state: State, to: number, isDraft: boolean): Pass => {
  const known = isDraft || isSure(openFixed(state)) ? state.fixed : finalWords(state)
  return { from: state.bufferStart, to, beginning: { isDraft, context: state.context, prefix: tokensOf(known) } }
}

/** Somebody is still speaking where the audio is cut off. */
const isSpeakingAt = ({ phrases }: SegmenterState, at: number): boolean =>
  phrases.some(({ regions }) => regions.some(({ start, end }) => start < at && (end ?? Infinity) > at))

/** Behind a long silence the buffer begins anew, a little before the next speech. */
const skipSilence = (state: State, { phrase }: Last, limits: Limits): State => {
  const next = phrase.regions.find(({ end }) => end === null || end > state.heardEnd)
  if (next === undefined || state.pending.length > 0 || openFixed(state).length > 0) return state
  const isLong = state.fixed.length === 0 || next.start - lastWordEnd(state) > HOLD
  const start = Math.max(state.bufferStart, next.start - limits.buffer.preRoll)
  return isLong && start > state.bufferStart ? { ...cutAt(state, start, state.fixed.length), changedAt: start } : state
}

/** The open segment, where it is shown otherwise than before; one that is empty again is shown empty. */
const show = ({ state, finals }: Made, limits: Limits): Outcome & { readonly state: State } => {
  const words = shownWords(state)
  const text = textOf(words)
  if (limits.onlyFinals || text === state.shown) return { state, finals, partial: null }
  return { state: { ...state, shown: text }, finals, partial: partialSegment(words, limits.shape, state.segment, state.lastFinalEnd) }
}

/** Takes all that was heard as it is. */
const fixAll = (state: State): State => ({ ...state, fixed: joined(state.fixed, state.pending, state.finals), pending: [] })

const finaliseAll = (state: State, limits: Limits): Made => {
  const all = fixAll(state)
  return finalise(all, openFixed(all).length, limits)
}

/** The words of a phrase become final; those of the next phrase, where they were heard with it, stay open. */
const close = (state: State, { phrases }: SegmenterState, limits: Limits): Made => {
  const next = phrases[1]?.regions[0]
  const all = fixAll(state)
  if (next === undefined) return finalise(all, openFixed(all).length, limits)
  const behind = openFixed(all).findIndex(({ start, end }) => sampleAt((start + end) / 2) > next.start)
  return finalise(all, behind === -1 ? openFixed(all).length : behind, limits)
}

/** Where a buffer that is too long goes on: behind the last sentence of its older part, else a clause, else a word. */
const cutOf = (state: State, end: number): { readonly at: number; readonly count: number } => {
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

/** Finals fill the room for what is to be heard: an engine that is behind would spend a pass on little that is new. */
const isCrowded = (state: State, end: number, limits: Limits): boolean =>
  end > state.bufferStart + limits.buffer.longestHeard && openWords(state).length === 0 && cutOf(state, state.heardEnd).count > 0

const cut = (state: State, end: number, limits: Limits): Made => {
  const { at, count } = cutOf(state, end)
  const { state: done, finals } = finalise(state, Math.max(0, count - state.finals), limits)
  return { finals, state: cutAt(done, at, count) }
}

/** The oldest word is due in mode final. Of words that are not fixed the rest is heard first, where there is more to hear. */
const isDue = (state: State, clock: number, limits: Limits): boolean => {
  if (openFixed(state).length === 0 && state.heardEnd < clock) return false
  const oldest = openWords(state)[0]
  return limits.onlyFinals && oldest !== undefined && clock + limits.interval / 2 >= sampleAt(oldest.end) + limits.maxDelay
}

/** How many open words fill captions that nothing more fits into; all, where somebody has spoken too long without a pause. */
const fullCaptions = (state: State, limits: Limits): number => {
  const words = openFixed(state)
  const [first] = words
  const isLong = first !== undefined && state.heardEnd - sampleAt(first.start) > limits.longestSegment
  const old = words.findLastIndex(({ end }) => sampleAt(end) <= state.heardEnd - UNSURE_DOUBTED) + 1
  return isLong ? Math.max(1, old) : Math.min(words.length, wordsInFullCaptions(shownWords(state), limits.shape))
}

/** Without a detector: nothing new was heard for so long that the phrase is over. */
const isQuiet = (state: State, limits: Limits): boolean =>
  !limits.vad && openWords(state).length > 0 && state.heardEnd - state.changedAt >= limits.phraseSilence

/** The end of the phrases that are over already and fit into one pass: an engine that is behind hears them together. */
const endOfClosed = (state: State, { phrases }: SegmenterState, limits: Limits): number =>
  phrases
    .filter(({ closedAt }) => closedAt !== null)
    .map(({ regions }) => regions.at(-1)?.end ?? 0)
    .findLast((end, i) => i === 0 || end - state.bufferStart <= limits.buffer.longestHeard) ?? state.heardEnd

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
  const pending = words.slice(count)
  const unlikely = pending.findIndex(({ end, probability }) => probability < UNLIKELY || sampleAt(end) > to - UNSEEN)
  return { ...state, fixed: open, pending, likely: unlikely === -1 ? pending.length : unlikely }
}

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

const taken = (state: State, pass: Pass, hypothesis: Hypothesis, regions: ReadonlyArray<Region>, limits: Limits): State => {
  const verdict = hypothesis.isLoop === true ? 'rejected' : judge(hypothesis, limits.vad)
  const isDraft = pass.beginning?.isDraft === true
  const isSpeaking = pass.isSpeaking === true
  const words = verdict === 'silence' ? [] : wordsOf(hypothesis.words ?? [], pass, regions, limits)
  const isUsable = verdict === 'words' || verdict === 'silence'
  // A doubtful text is better than none, where somebody spoke.
  const isBest = limits.vad && hypothesis.isLoop !== true && openWords(state).length === 0
  const settled = { isDoubted: false, settledEnd: Math.max(state.settledEnd, pass.to) }
  if (isDraft) return isUsable ? fix(state, words, pass.to, isSpeaking) : { ...state, isDoubted: true }
  const isAnew = !goesOnFrom(state, pass)
  const isCut = isAnew && verdict === 'words' && !isWhole(state, words)
  if (isCut || (!isUsable && !isBest)) return { ...(isSpeaking ? state : fixAll(state)), ...settled, context: isUsable ? state.context : [] }
  const known = isAnew ? { ...state, fixed: finalWords(state) } : state
  if (!isSpeaking) return { ...withSureEnd({ ...known, fixed: joined(known.fixed, words, state.finals), pending: [] }), ...settled }
  // What it leaves open is heard again by drafts.
  const made = fix(known, words, pass.to, true)
  return { ...made, ...settled, settledEnd: Math.max(state.settledEnd, ...made.fixed.map(({ end }) => sampleAt(end))) }
}

/**
 * The policy for models whose cross-attention tells when each word sounds (AlignAtt; Papi et al., 2023): drafts go on from the
 * words that are fixed, and fix those that do not sound at the end of the audio. A pause long enough to end the phrase is
 * heard once more in a full window, from the last final on.
 */
export const attentionPolicy = (nextSegment: number): StreamingPolicy => {
  let state = initialState(nextSegment)

  const say = (made: Made, limits: Limits, endsPhrase = false): Step => {
    const outcome = show(made, limits)
    state = outcome.state
    return { kind: 'say', endsPhrase, outcome }
  }

  const next = (speech: SegmenterState, limits: Limits): Step => {
    const last = lastOf(speech)
    state = skipSilence(state, last, limits)
    const { phrase, region, end } = last
    const pass = (wanted: number, isDraft: boolean): Step => {
      if (isCrowded(state, wanted, limits)) return say(cut(state, state.heardEnd, limits), limits)
      const to = Math.min(wanted, state.bufferStart + limits.buffer.longestHeard)
      return { kind: 'pass', pass: { ...passOf(state, to, isDraft), isSpeaking: !isQuiet(state, limits) && isSpeakingAt(speech, to) } }
    }
    const isClosed = phrase.closedAt !== null
    const isOpenHeard = state.isDoubted || openWords(state).length > 0
    if (isQuiet(state, limits)) {
      if (state.settledEnd < state.heardEnd) return pass(state.heardEnd, false)
      return say(close(state, speech, limits), limits, isClosed && state.heardEnd >= end)
    }
    if (isDue(state, speech.clock, limits)) {
      return say(finalise(openFixed(state).length > 0 ? state : fixAll(state), Infinity, limits), limits)
    }
    if (isClosed && state.settledEnd >= end) return say(close(state, speech, limits), limits, true)
    const full = fullCaptions(state, limits)
    const isFull = state.heardEnd - state.bufferStart >= limits.buffer.longestHeard
    if (full > 0 || isFull) {
      const leaving = full > 0 ? openFixed(state).slice(0, full) : state.fixed.slice(state.finals, cutOf(state, state.heardEnd).count)
      const isSettled = leaving.every(({ end }) => sampleAt(end) <= state.settledEnd)
      const isUnheard = state.isDoubted && leaving.length === 0
      if (isUnheard || (!isSettled && !isSure(leaving))) return pass(state.heardEnd, false)
      return say(full > 0 ? finalise(state, full, limits) : cut(state, state.heardEnd, limits), limits)
    }
    if (isClosed) {
      const to = endOfClosed(state, speech, limits)
      if (isOpenHeard || state.heardEnd < end) return pass(to, false)
      return say(close(state, speech, limits), limits, true)
    }
    const isOver = region.end !== null
    const isBehind = phrase.regions.some((each) => each.end !== null && each.end > state.heardEnd)
    if (isBehind || (!isOver && end - Math.max(state.heardEnd, region.start) >= limits.interval)) return pass(end, true)
    const isLongPause = isOver && speech.clock - end >= limits.phraseSilence / 2
    return isLongPause && isOpenHeard && state.settledEnd < end ? pass(end, false) : { kind: 'wait' }
  }

  const hear: StreamingPolicy['hear'] = (regions, pass, hypothesis, limits) => {
    const before = textOf(openWords(state))
    const heard = taken(state, pass, hypothesis, regions, limits)
    state = {
      ...heard,
      heardEnd: Math.max(state.heardEnd, pass.to),
      // A full pass over audio that was quiet already does not make it new.
      changedAt: pass.beginning?.isDraft !== true || textOf(openWords(heard)) === before ? state.changedAt : pass.to,
    }
    // Where no detector tells, what sounded last is kept: heard without the words said of it, they would come twice.
    const quietFrom = pass.to - limits.buffer.overlap
    const isSilent = !limits.vad && openWords(state).length === 0 && quietFrom > lastWordEnd(state)
    if (isSilent) state = cutAt(state, quietFrom, state.fixed.length)
    const outcome = show({ state, finals: [] }, limits)
    state = outcome.state
    return outcome
  }

  return {
    next,
    hear,
    known: (speech) => {
      const isHeld = state.fixed.length > 0 && speech.clock - lastWordEnd(state) < HOLD + ONSET
      return { heardEnd: state.heardEnd, neededFrom: speech.phrases.length > 0 || isHeld ? state.bufferStart : speech.clock }
    },
    giveUp: (limits) => {
      const outcome = show(finaliseAll(state, limits), limits)
      state = outcome.state
      return outcome
    },
    nextLook: (speech, limits) => {
      const oldest = openWords(state)[0]
      const { region, end } = lastOf(speech)
      const isUnsettled = region.end !== null && (state.isDoubted || openWords(state).length > 0) && state.settledEnd < end
      return looked(speech, limits, {
        heardEnd: state.heardEnd,
        full: state.bufferStart + limits.buffer.longestHeard,
        due: limits.onlyFinals && oldest !== undefined ? sampleAt(oldest.end) + limits.maxDelay - limits.interval / 2 : Infinity,
        pause: isUnsettled ? end + limits.phraseSilence / 2 : Infinity,
      })
    },
  }
}
