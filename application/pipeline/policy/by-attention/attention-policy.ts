import { SAMPLE_RATE } from '../../../ports/engine.ts'
import type { Hypothesis } from '../../../ports/engine.ts'
import type { Phrase, Region, SegmenterState } from '../../speech/speech-segmenter.ts'
import { looked } from '../next-look.ts'
import type { Limits } from '../policy-limits.ts'
import { settledBy } from '../policy.ts'
import type { Outcome, Pass, Step, StreamingPolicy } from '../policy.ts'
import { partialSegment } from '../segments.ts'
import { textOf } from '../words.ts'
import { close, cut, cutOf, endOfClosed, fullCaptions, isCrowded, isDue, isFull, isQuiet } from './leaving.ts'
import { cutAt, finalise, finalWords, fixAll, initialState, isDoubted, lastWordEnd, openFixed, openWords, restartAt, sampleAt, shownWords, tokensOf } from './state.ts'
import type { Made, State } from './state.ts'
import { HOLD, hearAnew, skipSilence } from './buffer-start.ts'
import { endedAsHeard, isSure, takeIn } from './take-in.ts'

/** A region is found a little after it began. */
const ONSET = SAMPLE_RATE

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

/** When the next step is asked for. */
interface Moment extends Last {
  readonly speech: SegmenterState
  readonly limits: Limits
  readonly isClosed: boolean
}

/** What to do, null where it says nothing. */
type Rule = (moment: Moment) => Step | null

/** Something was heard that no full pass has judged. */
const isUnsettled = (state: State): boolean => isDoubted(state) || openWords(state).length > 0

/** A draft goes on from what is fixed; a full pass hears again what is not final, where the drafts were not sure of it. */
const passOf = (state: State, to: number, isDraft: boolean): Pass => {
  const known = isDraft || isSure(openFixed(state)) ? state.fixed : finalWords(state)
  return { from: state.bufferStart, to, isDraft, beginning: { context: state.context, prefix: tokensOf(known) } }
}

const saysNothing = ({ words = [], isLoop }: Hypothesis): boolean => isLoop !== true && !words.some(({ text }) => /[\p{L}\p{N}]/u.test(text))

/** A pause has lasted so long that the phrase may be over. */
const isLongPause = ({ clock }: SegmenterState, region: Region, end: number, limits: Limits): boolean =>
  region.end !== null && clock - end >= limits.phraseSilence / 2

/** Somebody is still speaking where the audio is cut off. */
const isSpeakingAt = ({ phrases }: SegmenterState, at: number): boolean =>
  phrases.some(({ regions }) => regions.some(({ start, end }) => start < at && (end ?? Infinity) > at))

/** The open segment, where it is shown otherwise than before; one that is empty again is shown empty. */
const show = ({ state, finals }: Made, limits: Limits): Outcome & { readonly state: State } => {
  const words = shownWords(state)
  const text = textOf(words)
  if (limits.onlyFinals || text === state.shown) return { state, finals, partial: null }
  return { state: { ...state, shown: text }, finals, partial: partialSegment(words, limits.shape, state.segment, state.lastFinalEnd) }
}

const finaliseAll = (state: State, limits: Limits): Made => {
  const all = fixAll(state)
  return finalise(all, openFixed(all).length, limits)
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

  const pass = ({ speech, limits }: Moment, wanted: number, isDraft: boolean): Step => {
    if (isCrowded(state, wanted, limits)) return say(cut(state, state.heardEnd, limits), limits)
    const to = Math.min(wanted, state.bufferStart + limits.buffer.longestHeard)
    return { kind: 'pass', pass: { ...passOf(state, to, isDraft), isSpeaking: !isQuiet(state, limits) && isSpeakingAt(speech, to) } }
  }

  const whenQuiet: Rule = (moment) => {
    const { speech, limits, isClosed, end } = moment
    if (!isQuiet(state, limits)) return null
    if (state.settledEnd < state.heardEnd) return pass(moment, state.heardEnd, false)
    return say(close(state, speech, limits), limits, isClosed && state.heardEnd >= end)
  }

  const whenDue: Rule = ({ speech, limits }) =>
    isDue(state, speech.clock, limits) ? say(finalise(openFixed(state).length > 0 ? state : fixAll(state), Infinity, limits), limits) : null

  const whenEnded: Rule = ({ speech, limits, isClosed, region, end }) => {
    const isHeard = state.heardEnd >= end && state.settledEnd < end
    const ended = isHeard && (isClosed || isLongPause(speech, region, end, limits)) ? endedAsHeard(state) : null
    return ended === null ? null : say({ state: ended, finals: [] }, limits)
  }

  const whenSettled: Rule = ({ speech, limits, isClosed, end }) =>
    isClosed && state.settledEnd >= end ? say(close(state, speech, limits), limits, true) : null

  /** What leaves the buffer or becomes final must be sure, or have been heard in a full window. */
  const whenFull: Rule = (moment) => {
    const { limits } = moment
    const full = fullCaptions(state, limits)
    if (full === 0 && !isFull(state, limits)) return null
    const leaving = full > 0 ? openFixed(state).slice(0, full) : state.fixed.slice(state.finals, cutOf(state, state.heardEnd).count)
    const isSettled = leaving.every(({ end }) => sampleAt(end) <= state.settledEnd)
    const isUnheard = isDoubted(state) && leaving.length === 0
    if (isUnheard || (!isSettled && !isSure(leaving))) return pass(moment, state.heardEnd, false)
    return say(full > 0 ? finalise(state, full, limits) : cut(state, state.heardEnd, limits), limits)
  }

  const whenClosed: Rule = (moment) => {
    const { speech, limits, isClosed, end } = moment
    if (!isClosed) return null
    if (isUnsettled(state) || state.heardEnd < end) return pass(moment, endOfClosed(state, speech, limits), false)
    return say(close(state, speech, limits), limits, true)
  }

  const whenNew: Rule = (moment) => {
    const { limits, phrase, region, end } = moment
    const isBehind = phrase.regions.some((each) => each.end !== null && each.end > state.heardEnd)
    const wanted = openWords(state).length > 0 ? limits.probe : limits.interval
    const isMore = region.end === null && end - Math.max(state.heardEnd, region.start) >= wanted
    return isBehind || isMore ? pass(moment, end, true) : null
  }

  const whenPaused: Rule = (moment) => {
    const { speech, limits, region, end } = moment
    return isLongPause(speech, region, end, limits) && isUnsettled(state) && state.settledEnd < end ? pass(moment, end, false) : null
  }

  const next = (speech: SegmenterState, limits: Limits): Step => {
    const last = lastOf(speech)
    const moment = { ...last, speech, limits, isClosed: last.phrase.closedAt !== null }
    state = skipSilence(state, last.phrase, limits)
    for (const rule of [whenQuiet, whenDue, whenEnded, whenSettled, whenFull, whenClosed, whenNew, whenPaused]) {
      const step = rule(moment)
      if (step !== null) return step
    }
    return { kind: 'wait' }
  }

  const hear: StreamingPolicy['hear'] = (regions, pass, hypothesis, limits) => {
    const before = textOf(openWords(state))
    const { state: heard, leftOut } = takeIn(state, pass, hypothesis, regions, limits)
    state = {
      ...heard,
      heardEnd: Math.max(state.heardEnd, pass.to),
      // A full pass over audio that was quiet already does not make it new.
      changedAt: pass.isDraft !== true || textOf(openWords(heard)) === before ? state.changedAt : pass.to,
    }
    // Where no detector tells, what sounded last is kept: heard without the words said of it, they would come twice.
    const quietFrom = pass.to - limits.buffer.overlap
    const isSilent = !limits.vad && openWords(state).length === 0 && quietFrom > lastWordEnd(state)
    if (isSilent) state = cutAt(state, quietFrom, state.fixed.length)
    const outcome = show(limits.vad && saysNothing(hypothesis) ? hearAnew(state, regions, pass, limits) : { state, finals: [] }, limits)
    state = outcome.state
    return { ...outcome, leftOut }
  }

  return {
    next,
    hear,
    known: (speech) => {
      const isHeld = state.fixed.length > 0 && speech.clock - lastWordEnd(state) < HOLD + ONSET
      const { heardEnd, bufferStart } = state
      const settled = settledBy(speech, { finalEnd: sampleAt(state.lastFinalEnd), bufferStart, isOpen: isUnsettled(state) })
      return { heardEnd, neededFrom: speech.phrases.length > 0 || isHeld ? bufferStart : speech.clock, settled }
    },
    restart: (from) => {
      state = restartAt(state, from)
    },
    giveUp: (limits) => {
      const outcome = show(finaliseAll(state, limits), limits)
      state = outcome.state
      return outcome
    },
    nextLook: (speech, limits) => {
      const oldest = openWords(state)[0]
      const { region, end } = lastOf(speech)
      const isWaiting = region.end !== null && isUnsettled(state) && state.settledEnd < end
      return looked(speech, limits, {
        heardEnd: state.heardEnd,
        full: state.bufferStart + limits.buffer.longestHeard,
        due: limits.onlyFinals && oldest !== undefined ? sampleAt(oldest.end) + limits.maxDelay - limits.interval / 2 : Infinity,
        pause: isWaiting ? end + limits.phraseSilence / 2 : Infinity,
      })
    },
  }
}
