import test from 'ava'
import { limitsOf } from '../../../../../../application/pipeline/policy/policy-limits.ts'
import { initialPolicy } from '../../../../../../application/pipeline/policy/by-agreement/policy-state.ts'
import { applyPass, skipSilence } from '../../../../../../application/pipeline/policy/by-agreement/streaming-policy.ts'
import { SAMPLE_RATE, type Hypothesis } from '../../../../../../application/ports/engine.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../../../../../../domain/live/settings.ts'

const limits = limitsOf({ ...DEFAULT_ENGINE_SETTINGS, max_delay: 3, max_buffer: 20 }, 30)
const seconds = (count: number): number => Math.round(count * SAMPLE_RATE)

const hypothesisOf = (end: number): Hypothesis => ({
  segments: [{ start: 0, end, text: ' one' }, { start: end, end: end + 1, text: ' two' }],
  avgLogprob: -0.2, noSpeechProb: 0, compressionRatio: 1,
})

/** The words that one pass up to `to` seconds fixes. The word `one` ends at `end`, and `two` ends a second later. */
const fixedAfter = (end: number, to: number): ReadonlyArray<string> => {
  const speech = [{ start: 0, end: null }]
  const pass = { kind: 'pass', full: false, from: 0, to: seconds(to) } as const
  const { state } = applyPass(initialPolicy(1), speech, pass, hypothesisOf(end), limits)
  return state.agreement.committed.map(({ text }) => text.trim())
}

test('a word older than max_delay is fixed without a second pass, a younger word is not', (t) => {
  t.deepEqual(fixedAfter(1, 3.5), [])
  t.deepEqual(fixedAfter(1, 4.5), ['one'])
  t.deepEqual(fixedAfter(1, 5.5), ['one', 'two'])
})

test('an empty buffer begins 0.15 s before speech, never before the audio', (t) => {
  const phrase = { regions: [{ start: seconds(3), end: null }], dips: [], closedAt: null }
  t.is(skipSilence(initialPolicy(1), phrase, limits).bufferStart, seconds(3) - seconds(0.15))
  const atOnce = { ...phrase, regions: [{ start: seconds(0.1), end: null }] }
  t.is(skipSilence(initialPolicy(1), atOnce, limits).bufferStart, 0)
})
