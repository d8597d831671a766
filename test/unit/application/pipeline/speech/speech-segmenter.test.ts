import test from 'ava'
import fc from 'fast-check'
import {
  dropPhrase, endOfAudio, foldSpeech, INITIAL_SEGMENTER, type Phrase, type Region, type SegmenterState,
} from '../../../../../application/pipeline/speech/speech-segmenter.ts'
import { SAMPLE_RATE, VAD_FRAME } from '../../../../../application/ports/engine.ts'

const SECOND = SAMPLE_RATE
const PAD = 0.1 * SAMPLE_RATE

/** Folds frames of speech probabilities. Each span is [number of frames, probability]. */
const fold = (
  spans: ReadonlyArray<readonly [number, number]>,
  state: SegmenterState = INITIAL_SEGMENTER,
): SegmenterState =>
  foldSpeech(state, spans.flatMap(([frames, probability]) => Array.from({ length: frames }, () => probability)), SECOND)

const regionsOf = (state: SegmenterState): ReadonlyArray<Region> => state.phrases.flatMap(({ regions }) => regions)

test('a region begins slightly before the speech and ends slightly after it', (t) => {
  t.deepEqual(regionsOf(fold([[30, 0.1], [20, 0.9]])), [{ start: 30 * VAD_FRAME - PAD, end: null }])
  t.deepEqual(
    regionsOf(fold([[30, 0.1], [20, 0.9], [10, 0.1]])),
    [{ start: 30 * VAD_FRAME - PAD, end: 50 * VAD_FRAME + PAD }],
  )
})

test('probabilities between the thresholds change nothing', (t) => {
  t.deepEqual(regionsOf(fold([[30, 0.45]])), [])
  t.deepEqual(regionsOf(fold([[5, 0.9], [60, 0.4]])), [{ start: 0, end: null }])
})

test('a click is not speech, and a short dip is not a pause', (t) => {
  t.deepEqual(regionsOf(fold([[10, 0.1], [1, 0.99], [40, 0.1]])), [])
  t.deepEqual(regionsOf(fold([[10, 0.9], [5, 0.1], [10, 0.9]])), [{ start: 0, end: null }])
})

test('a dip is kept as a place for a cut, a pause is not', (t) => {
  const { phrases } = fold([[10, 0.9], [3, 0.1], [10, 0.9], [12, 0.1], [5, 0.9]])
  t.deepEqual(phrases[0]?.dips, [{ start: 10 * VAD_FRAME, end: 13 * VAD_FRAME }])
})

test('a phrase ends once its silence has lasted long enough', (t) => {
  const silence = Math.ceil(SECOND / VAD_FRAME)
  t.is(fold([[20, 0.9], [silence - 1, 0.1]]).phrases[0]?.closedAt, null)
  t.is(fold([[20, 0.9], [silence, 0.1]]).phrases[0]?.closedAt, (20 + silence) * VAD_FRAME)
  t.is(fold([[20, 0.9], [15, 0.1], [5, 0.9], [15, 0.1], [5, 0.9], [silence, 0.1]]).phrases.length, 1)
  t.is(fold([[20, 0.9], [silence, 0.1], [5, 0.9]]).phrases.length, 2)
})

test('the end of the audio ends the open region and its phrase', (t) => {
  const state = endOfAudio(fold([[20, 0.9]]), 10_000)
  t.deepEqual(state.phrases, [{ regions: [{ start: 0, end: 10_000 }], dips: [], closedAt: 10_000 }])
  t.deepEqual(endOfAudio(INITIAL_SEGMENTER, 0).phrases, [])
  t.deepEqual(dropPhrase(state).phrases, [])
})

const areOrdered = (phrases: ReadonlyArray<Phrase>): boolean => {
  let at = 0
  return phrases.every(({ regions, closedAt }) => {
    const inOrder = regions.every(({ start, end }) => {
      const good = start >= at && (end === null || end >= start)
      at = end ?? start
      return good
    })
    const good = inOrder && regions.length > 0 && (closedAt === null || closedAt >= at)
    return good
  })
}

test('regions never overlap, and any batch size gives the same regions', (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.constantFrom(0.05, 0.4, 0.6, 0.95)), { maxLength: 30 }),
      fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 10 }),
      (spans, batches) => {
        const frames = spans.flatMap(([count, probability]) => Array.from({ length: count }, () => probability))
        const whole = foldSpeech(INITIAL_SEGMENTER, frames, SECOND)
        let [state, at, batch] = [INITIAL_SEGMENTER, 0, 0]
        while (at < frames.length) {
          const size = batches[batch % batches.length] ?? 1
          state = foldSpeech(state, frames.slice(at, at + size), SECOND)
          at += size
          batch += 1
        }
        t.deepEqual(state, whole)
        t.true(areOrdered(whole.phrases))
        t.is(whole.clock, frames.length * VAD_FRAME)
      },
    ),
  )
})
