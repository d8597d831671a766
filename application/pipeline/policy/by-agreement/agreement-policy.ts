import type { Phrase, SegmenterState } from '../../speech/speech-segmenter.ts'
import { looked } from '../next-look.ts'
import type { Limits } from '../policy-limits.ts'
import { settledBy } from '../policy.ts'
import type { StreamingPolicy } from '../policy.ts'
import { lastRegion, nextStep } from './next-step.ts'
import type { BufferPass } from './next-step.ts'
import { fixedWords, initialPolicy, openWords, sampleAt } from './policy-state.ts'
import type { PolicyState } from './policy-state.ts'
import { close, giveUp, hear, release, settleAt, skipSilence } from './streaming-policy.ts'
import { leftOutOf } from '../hypothesis-filters.ts'
import type { Outcome } from './streaming-policy.ts'

const NO_PHRASE: Phrase = { regions: [], dips: [], closedAt: null }

/** When there is something to do next at the earliest. */
export const nextLook = (state: PolicyState, speech: SegmenterState, limits: Limits): number => {
  const { end } = lastRegion(speech.phrases.at(-1) ?? NO_PHRASE)
  const oldest = [...fixedWords(state).slice(0, 1), ...state.agreement.pending.slice(0, 1)].map((word) => sampleAt(word.end) + limits.maxDelay)
  return looked(speech, limits, {
    heardEnd: state.heardEnd,
    full: state.bufferStart + limits.buffer.longest,
    due: limits.onlyFinals ? Math.min(...oldest) - limits.interval / 2 : Infinity,
    pause: end !== null && end > state.bufferStart ? end + limits.pause.length : Infinity,
  })
}

/** The policy for models that tell no times of words: each pass hears the buffer anew, and what two of them agree on is fixed. */
export const agreementPolicy = (nextSegment: number): StreamingPolicy => {
  let state = initialPolicy(nextSegment)
  let asked: BufferPass | null = null

  const told = (outcome: Outcome): Outcome => {
    state = outcome.state
    return outcome
  }

  return {
    known: (speech) => {
      const { heardEnd, bufferStart } = state
      const isOpen = openWords(state).length > 0
      const settled = settledBy(speech, { finalEnd: sampleAt(state.lastFinalEnd), bufferStart, isOpen })
      return { heardEnd, neededFrom: speech.phrases.length === 0 ? speech.clock : bufferStart, settled }
    },
    next: ({ phrases, clock }, limits) => {
      const phrase = phrases[0] ?? NO_PHRASE
      state = skipSilence(state, phrase, limits)
      const step = nextStep(state, phrase, clock, limits)
      switch (step.kind) {
        case 'wait':
          return step
        case 'pass':
          asked = step
          return { kind: 'pass', pass: step }
        case 'settle':
          return { kind: 'say', endsPhrase: false, outcome: told(settleAt(state, step, limits)) }
        case 'release':
          return { kind: 'say', endsPhrase: false, outcome: told(release(state, phrase, limits)) }
        case 'close':
          return { kind: 'say', endsPhrase: phrase.closedAt !== null, outcome: told(close(state, phrase, limits)) }
      }
    },
    hear: (regions, pass, hypothesis, limits) => ({
      ...told(hear(state, regions, asked ?? { ...pass, kind: 'pass', full: false }, hypothesis, limits)),
      leftOut: pass.isDraft === true ? null : leftOutOf(hypothesis, limits.vad),
    }),
    restart: (from) => {
      const at = Math.max(from, state.bufferStart, sampleAt(state.lastFinalEnd))
      state = { ...initialPolicy(state.segment), lastFinalEnd: state.lastFinalEnd, bufferStart: at, heardEnd: at, changedAt: at }
    },
    giveUp: (limits) => told(giveUp(state, limits)),
    nextLook: (speech, limits) => nextLook(state, speech, limits),
  }
}
