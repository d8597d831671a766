import type { Phrase, SegmenterState } from '../../speech/speech-segmenter.ts'
import { nextDetectionAt } from '../next-detection.ts'
import type { Limits } from '../policy-limits.ts'
import { settledBy, type StreamingPolicy } from '../policy.ts'
import { type BufferPass, lastRegion, nextStep } from './next-step.ts'
import { fixedWords, initialPolicy, openWords, type PolicyState, sampleAt } from './policy-state.ts'
import { applyPass, close, finishNow, type Outcome, release, settleAt, skipSilence } from './streaming-policy.ts'
import { discardedBy } from '../hypothesis-filters.ts'

const NO_PHRASE: Phrase = { regions: [], dips: [], closedAt: null }

/** Returns the sample up to which the detector should run next. */
export const nextDetection = (state: PolicyState, speech: SegmenterState, limits: Limits): number => {
  const { end } = lastRegion(speech.phrases.at(-1) ?? NO_PHRASE)
  const oldest = [...fixedWords(state).slice(0, 1), ...state.agreement.pending.slice(0, 1)]
    .map((word) => sampleAt(word.end) + limits.maxDelay)
  return nextDetectionAt(speech, limits, {
    transcribedEnd: state.transcribedEnd,
    full: state.bufferStart + limits.buffer.longest,
    due: limits.onlyFinals ? Math.min(...oldest) - limits.interval / 2 : Infinity,
    pause: end !== null && end > state.bufferStart ? end + limits.pause.length : Infinity,
  })
}

/**
 * Creates the policy for models without word times. Each pass transcribes the whole buffer again. Words on which two
 * passes agree are fixed.
 */
export const agreementPolicy = (nextSegment: number): StreamingPolicy => {
  let state = initialPolicy(nextSegment)
  let requestedPass: BufferPass | null = null

  const apply = (outcome: Outcome): Outcome => {
    state = outcome.state
    return outcome
  }

  return {
    progress: (speech) => {
      const { transcribedEnd, bufferStart } = state
      const isOpen = openWords(state).length > 0
      const settled = settledBy(speech, { finalEnd: sampleAt(state.lastFinalEnd), bufferStart, isOpen })
      return { transcribedEnd, neededFrom: speech.phrases.length === 0 ? speech.clock : bufferStart, settled }
    },
    next: ({ phrases, clock }, limits) => {
      const phrase = phrases[0] ?? NO_PHRASE
      state = skipSilence(state, phrase, limits)
      const step = nextStep(state, phrase, clock, limits)
      switch (step.kind) {
        case 'wait':
          return step
        case 'pass':
          requestedPass = step
          return { kind: 'pass', pass: step }
        case 'settle':
          return { kind: 'emit', endsPhrase: false, outcome: apply(settleAt(state, step, limits)) }
        case 'release':
          return { kind: 'emit', endsPhrase: false, outcome: apply(release(state, phrase, limits)) }
        case 'close':
          return { kind: 'emit', endsPhrase: phrase.closedAt !== null, outcome: apply(close(state, phrase, limits)) }
      }
    },
    applyPass: (regions, pass, hypothesis, limits) => ({
      ...apply(applyPass(state, regions, requestedPass ?? { ...pass, kind: 'pass', full: false }, hypothesis, limits)),
      discarded: pass.isDraft === true ? null : discardedBy(hypothesis, limits.vad),
    }),
    restart: (from) => {
      const at = Math.max(from, state.bufferStart, sampleAt(state.lastFinalEnd))
      const { lastFinalEnd } = state
      state = { ...initialPolicy(state.segment), lastFinalEnd, bufferStart: at, transcribedEnd: at, changedAt: at }
    },
    finishNow: (limits) => apply(finishNow(state, limits)),
    knowsWordEnds: false,
    nextDetection: (speech, limits) => nextDetection(state, speech, limits),
  }
}
