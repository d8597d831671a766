import test from 'ava'
import fc from 'fast-check'
import { nextDetection } from '../../../../../application/pipeline/policy/by-agreement/agreement-policy.ts'
import { lastRegion, nextStep } from '../../../../../application/pipeline/policy/by-agreement/next-step.ts'
import { limitsOf } from '../../../../../application/pipeline/policy/policy-limits.ts'
import {
  initialPolicy, type PolicyState,
} from '../../../../../application/pipeline/policy/by-agreement/policy-state.ts'
import {
  foldSpeech, INITIAL_SEGMENTER, type SegmenterState,
} from '../../../../../application/pipeline/speech/speech-segmenter.ts'
import { skipSilence } from '../../../../../application/pipeline/policy/by-agreement/streaming-policy.ts'
import { SAMPLE_RATE, VAD_FRAME } from '../../../../../application/ports/engine.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../../../../../domain/live/settings.ts'

const spans = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.constantFrom(0.05, 0.4, 0.6, 0.95)), {
    minLength: 1,
    maxLength: 12,
  })
  .map((all) => all.flatMap(([count, probability]) => Array.from({ length: count }, () => probability)))

const settings = fc.record({
  mode: fc.constantFrom('partial' as const, 'final' as const),
  min_buffer: fc.double({ min: 0.1, max: 3, noNaN: true }),
  max_buffer: fc.double({ min: 3, max: 20, noNaN: true }),
  buffer_timeout: fc.double({ min: 0.1, max: 3, noNaN: true }),
  max_delay: fc.double({ min: 0.5, max: 20, noNaN: true }),
})

const anyCase = fc.record({
  past: spans,
  future: spans,
  chosen: settings,
  transcribedShare: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
  hasPendingWord: fc.boolean(),
})

/** Adds a pending word that ends 0.2 s before the end of the transcribed audio. */
const withWord = (state: PolicyState): PolicyState => {
  const end = Math.max(0, state.transcribedEnd / SAMPLE_RATE - 0.2)
  return {
    ...state,
    agreement: { ...state.agreement, pending: [{ text: 'word', start: Math.max(0, end - 0.3), end }] },
  }
}

test('no step is due before the next detection, for any audio until then', (t) => {
  const seen = { detections: 0, dues: 0, longest: 0 }
  fc.assert(
    fc.property(anyCase, ({ past, future, chosen, transcribedShare, hasPendingWord }) => {
      const limits = limitsOf({ ...DEFAULT_ENGINE_SETTINGS, ...chosen }, 30)
      const speech = foldSpeech(INITIAL_SEGMENTER, past, limits.phraseSilence)
      // Keeps only the newest phrase, because an earlier phrase with open text makes a step due at once.
      const now: SegmenterState = { ...speech, phrases: speech.phrases.slice(-1) }
      const lastEnd = now.phrases[0] === undefined ? null : lastRegion(now.phrases[0]).end
      const transcribedEnd = transcribedShare === null ? (lastEnd ?? 0) : Math.round(transcribedShare * speech.clock)
      const bufferStart = Math.max(0, transcribedEnd - 2 * SAMPLE_RATE)
      const withBuffer = { ...initialPolicy(1), bufferStart, transcribedEnd }
      const kindAt = (policy: PolicyState, state: SegmenterState): string => {
        const phrase = state.phrases[0]
        return phrase === undefined
          ? 'wait'
          : nextStep(skipSilence(policy, phrase, limits), phrase, state.clock, limits).kind
      }
      const policy =
        hasPendingWord && now.phrases[0] !== undefined && lastRegion(now.phrases[0]).start < transcribedEnd
          ? withWord(withBuffer)
          : withBuffer
      if (kindAt(policy, now) !== 'wait') return
      const detectionAt = nextDetection(
        now.phrases[0] === undefined ? policy : skipSilence(policy, now.phrases[0], limits),
        now,
        limits,
      )
      seen.detections += 1
      seen.longest = Math.max(seen.longest, detectionAt - now.clock)
      let next = now
      for (const probability of future) {
        next = foldSpeech(next, [probability], limits.phraseSilence)
        if (next.clock >= detectionAt) {
          if (kindAt(policy, next) !== 'wait') seen.dues += 1
          break
        }
        // Detection runs in calls of at least four frames, so an earlier step may wait for the next call.
        if (detectionAt > now.clock + 4 * VAD_FRAME && kindAt(policy, next) !== 'wait')
          throw new Error(
            `${kindAt(policy, next)} at ${next.clock - now.clock}, but detection is at ${detectionAt - now.clock}`,
          )
      }
    }),
    { numRuns: 2000 },
  )
  t.true(seen.detections > 200 && seen.dues > 20, JSON.stringify(seen))
  t.true(seen.longest >= 8 * VAD_FRAME, 'some detections wait for several frames')
})
