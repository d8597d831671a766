import { type Hypothesis, SAMPLE_RATE } from '../../../ports/engine.ts'
import type { Phrase, Region, SegmenterState } from '../../speech/speech-segmenter.ts'
import { nextDetectionAt } from '../next-detection.ts'
import type { Limits } from '../policy-limits.ts'
import { type Outcome, type Pass, settledBy, type Step, type StreamingPolicy } from '../policy.ts'
import { partialSegment } from '../segments.ts'
import { textOf } from '../words.ts'
import { close, cut, cutOf, endOfClosed, fullCaptions, isCrowded, isDue, isFull, isQuiet } from './finalisation.ts'
import {
  cutAt, finalise, finalWords, fixAll, initialState, isDoubted, lastWordEnd, openFixed, openWords, restartAt, sampleAt,
  shownWords, type State, type StateWithFinals, tokensOf,
} from './state.ts'
import { HOLD_SAMPLES, retryMissedSpeech, skipSilence } from './buffer-start.ts'
import { endFromDraft, isSure, applyPass } from './apply-pass.ts'

/** The detector reports a speech region at most this long after its start. */
const ONSET_SAMPLES = SAMPLE_RATE

/** The oldest phrase that is not finalised, its last region, and where its speech ends. */
interface Last {
  readonly phrase: Phrase
  readonly region: Region
  /** End of the speech so far. */
  readonly end: number
}

const lastOf = ({ phrases, clock }: SegmenterState): Last => {
  const phrase = phrases[0] ?? { regions: [], dips: [], closedAt: null }
  const region = phrase.regions.at(-1) ?? { start: clock, end: clock }
  return { phrase, region, end: region.end ?? clock }
}

/** The situation in which the next step is chosen. */
interface Moment extends Last {
  readonly speech: SegmenterState
  readonly limits: Limits
  /** True when the phrase has ended. */
  readonly isClosed: boolean
}

/** Returns the next step, or null when the rule does not apply. */
type Rule = (moment: Moment) => Step | null

/** Returns whether words or audio still need a full pass. */
const isUnsettled = (state: State): boolean => isDoubted(state) || openWords(state).length > 0

/** A draft continues after the fixed words. A full pass also transcribes the open words again, unless they are sure. */
const passOf = (state: State, to: number, isDraft: boolean): Pass => {
  const known = isDraft || isSure(openFixed(state)) ? state.fixed : finalWords(state)
  return { from: state.bufferStart, to, isDraft, beginning: { context: state.context, prefix: tokensOf(known) } }
}

const hasNoWords = ({ words = [], isLoop }: Hypothesis): boolean =>
  isLoop !== true && !words.some(({ text }) => /[\p{L}\p{N}]/u.test(text))

/** Returns whether the pause is so long that the phrase may have ended. */
const isLongPause = ({ clock }: SegmenterState, region: Region, end: number, limits: Limits): boolean =>
  region.end !== null && clock - end >= limits.phraseSilence / 2

/** Returns whether speech continues at the end of a pass. */
const isSpeakingAt = ({ phrases }: SegmenterState, at: number): boolean =>
  phrases.some(({ regions }) => regions.some(({ start, end }) => start < at && (end ?? Infinity) > at))

/** Shows the open segment if its text has changed. A segment that has lost all its words is shown empty. */
const show = ({ state, finals }: StateWithFinals, limits: Limits): Outcome & { readonly state: State } => {
  const words = shownWords(state)
  const text = textOf(words)
  if (limits.onlyFinals || text === state.shown) return { state, finals, partial: null }
  const partial = partialSegment(words, limits.shape, state.segment, state.lastFinalEnd)
  return { state: { ...state, shown: text }, finals, partial }
}

const finaliseAll = (state: State, limits: Limits): StateWithFinals => {
  const all = fixAll(state)
  return finalise(all, openFixed(all).length, limits)
}

/**
 * Creates the policy for models that derive word times from their cross-attention (AlignAtt; Papi et al., 2023). A
 * draft continues after the fixed words and fixes the words that are not at the end of the audio. After a pause that
 * may end the phrase, a full pass transcribes the audio after the last final word again.
 */
export const attentionPolicy = (nextSegment: number): StreamingPolicy => {
  let state = initialState(nextSegment)

  const emit = (next: StateWithFinals, limits: Limits, endsPhrase = false): Step => {
    const outcome = show(next, limits)
    state = outcome.state
    return { kind: 'emit', endsPhrase, outcome }
  }

  const pass = ({ speech, limits }: Moment, wanted: number, isDraft: boolean): Step => {
    if (isCrowded(state, wanted, limits)) return emit(cut(state, state.transcribedEnd, limits), limits)
    const to = Math.min(wanted, state.bufferStart + limits.buffer.longestWithContext)
    const isSpeaking = !isQuiet(state, limits) && isSpeakingAt(speech, to)
    return { kind: 'pass', pass: { ...passOf(state, to, isDraft), isSpeaking } }
  }

  const whenQuiet: Rule = (moment) => {
    const { speech, limits, isClosed, end } = moment
    if (!isQuiet(state, limits)) return null
    if (state.settledEnd < state.transcribedEnd) return pass(moment, state.transcribedEnd, false)
    return emit(close(state, speech, limits), limits, isClosed && state.transcribedEnd >= end)
  }

  const whenDue: Rule = ({ speech, limits }) => {
    if (!isDue(state, speech.clock, limits)) return null
    return emit(finalise(openFixed(state).length > 0 ? state : fixAll(state), Infinity, limits), limits)
  }

  const whenEnded: Rule = ({ speech, limits, isClosed, region, end }) => {
    const isTranscribed = state.transcribedEnd >= end && state.settledEnd < end
    const ended = isTranscribed && (isClosed || isLongPause(speech, region, end, limits)) ? endFromDraft(state) : null
    return ended === null ? null : emit({ state: ended, finals: [] }, limits)
  }

  const whenSettled: Rule = ({ speech, limits, isClosed, end }) =>
    isClosed && state.settledEnd >= end ? emit(close(state, speech, limits), limits, true) : null

  /** Words that leave the buffer or become final must be certain or confirmed by a full pass. */
  const whenFull: Rule = (moment) => {
    const { limits } = moment
    const full = fullCaptions(state, limits)
    if (full === 0 && !isFull(state, limits)) return null
    const leaving = full > 0
      ? openFixed(state).slice(0, full)
      : state.fixed.slice(state.finals, cutOf(state, state.transcribedEnd).count)
    const isSettled = leaving.every(({ end }) => sampleAt(end) <= state.settledEnd)
    const hasOnlyDoubts = isDoubted(state) && leaving.length === 0
    if (hasOnlyDoubts || (!isSettled && !isSure(leaving))) return pass(moment, state.transcribedEnd, false)
    return emit(full > 0 ? finalise(state, full, limits) : cut(state, state.transcribedEnd, limits), limits)
  }

  const whenClosed: Rule = (moment) => {
    const { speech, limits, isClosed, end } = moment
    if (!isClosed) return null
    if (isUnsettled(state) || state.transcribedEnd < end) return pass(moment, endOfClosed(state, speech, limits), false)
    return emit(close(state, speech, limits), limits, true)
  }

  const whenNew: Rule = (moment) => {
    const { limits, phrase, region, end } = moment
    const hasNewRegion = phrase.regions.some((each) => each.end !== null && each.end > state.transcribedEnd)
    const wanted = openWords(state).length > 0 ? limits.probe : limits.interval
    const hasNewAudio = region.end === null && end - Math.max(state.transcribedEnd, region.start) >= wanted
    return hasNewRegion || hasNewAudio ? pass(moment, end, true) : null
  }

  const whenPaused: Rule = (moment) => {
    const { speech, limits, region, end } = moment
    const needsPass = isLongPause(speech, region, end, limits) && isUnsettled(state) && state.settledEnd < end
    return needsPass ? pass(moment, end, false) : null
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

  const apply: StreamingPolicy['applyPass'] = (regions, pass, hypothesis, limits) => {
    const before = textOf(openWords(state))
    const { state: after, discarded } = applyPass(state, pass, hypothesis, regions, limits)
    state = {
      ...after,
      transcribedEnd: Math.max(state.transcribedEnd, pass.to),
      // Only a draft counts as a change, because a full pass covers the same audio again.
      changedAt: pass.isDraft !== true || textOf(openWords(after)) === before ? state.changedAt : pass.to,
    }
    // Without a detector, the buffer moves on in silence, once its new start is after the last word. A word that is
    // forgotten while its audio stays would appear twice.
    const quietFrom = pass.to - limits.buffer.overlap
    const isSilent = !limits.vad && openWords(state).length === 0 && quietFrom > lastWordEnd(state)
    if (isSilent) state = cutAt(state, quietFrom, state.fixed.length)
    const isMissed = limits.vad && hasNoWords(hypothesis)
    const next = isMissed ? retryMissedSpeech(state, regions, pass, limits) : { state, finals: [] }
    const outcome = show(next, limits)
    state = outcome.state
    return { ...outcome, discarded }
  }

  return {
    next,
    applyPass: apply,
    progress: (speech) => {
      const isHeld = state.fixed.length > 0 && speech.clock - lastWordEnd(state) < HOLD_SAMPLES + ONSET_SAMPLES
      const { transcribedEnd, bufferStart } = state
      const finalEnd = sampleAt(state.lastFinalEnd)
      const settled = settledBy(speech, { finalEnd, bufferStart, isOpen: isUnsettled(state) })
      const isNeeded = speech.phrases.length > 0 || isHeld
      return { transcribedEnd, neededFrom: isNeeded ? bufferStart : speech.clock, settled }
    },
    restart: (from) => {
      state = restartAt(state, from)
    },
    finishNow: (limits, isContinued) => {
      const done = isContinued === true ? finalise(state, Infinity, limits) : finaliseAll(state, limits)
      const outcome = show(done, limits)
      state = outcome.state
      return outcome
    },
    knowsWordEnds: true,
    nextDetection: (speech, limits) => {
      const oldest = openWords(state)[0]
      const { region, end } = lastOf(speech)
      const isWaiting = region.end !== null && isUnsettled(state) && state.settledEnd < end
      return nextDetectionAt(speech, limits, {
        transcribedEnd: state.transcribedEnd,
        full: state.bufferStart + limits.buffer.longestWithContext,
        due: limits.onlyFinals && oldest !== undefined
          ? sampleAt(oldest.end) + limits.maxDelay - limits.interval / 2
          : Infinity,
        pause: isWaiting ? end + limits.phraseSilence / 2 : Infinity,
      })
    },
  }
}
