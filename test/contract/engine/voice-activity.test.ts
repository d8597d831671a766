import { readFile } from 'node:fs/promises'
import test from 'ava'
import fc from 'fast-check'
import { SAMPLE_RATE, VAD_FRAME, type VadState } from '../../../application/ports/engine.ts'
import { createVoiceActivity, type DetectSpeech } from '../../../infrastructure/onnx/voice-activity.ts'
import { voiceGraph } from '../../../infrastructure/onnx/graphs/voice-graph.ts'
import { demoSpeech } from '../../../bench/audio.ts'
import { openFrameByFrame } from '../../../bench/frame-by-frame.ts'

const detect = createVoiceActivity()
const reference = openFrameByFrame()

/** The maximum difference of two probabilities. They are equal unless a processor adds in another order. */
const TOLERANCE = 1e-4

/** Runs speech detection on consecutive pieces of these lengths. Returns all probabilities and the last state. */
const detectInPieces = async (
  run: DetectSpeech,
  samples: Int16Array,
  frames: ReadonlyArray<number>,
): Promise<ReadonlyArray<number>> => {
  const probabilities: number[] = []
  let [start, state]: [number, VadState] = [0, null]
  for (const count of frames) {
    const end = start + count * VAD_FRAME
    const answer = await run(samples.subarray(start, end), state)
    start = end
    state = answer.state
    probabilities.push(...answer.probabilities)
  }
  return [...probabilities, ...(state ?? [])]
}

const largestDifference = (left: ReadonlyArray<number>, right: ReadonlyArray<number>): number =>
  left.length === right.length
    ? left.reduce((largest, value, i) => Math.max(largest, Math.abs(value - (right[i] ?? Infinity))), 0)
    : Infinity

test("frames in one run get the probabilities of Silero's own graph", async (t) => {
  const { samples } = await demoSpeech()
  const frames = Math.floor((20 * SAMPLE_RATE) / VAD_FRAME)
  const expected = await detectInPieces(await reference, samples, [frames])
  const probabilities = expected.slice(0, frames)
  t.true(
    probabilities.some((value) => value > 0.9) && probabilities.some((value) => value < 0.1),
    'the audio has speech and pauses',
  )
  t.true(largestDifference(await detectInPieces(detect, samples, [frames]), expected) < TOLERANCE)
})

test('the split of frames between calls changes nothing', async (t) => {
  const { samples } = await demoSpeech()
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 8 }), async (lengths) => {
      const frames = lengths.reduce((sum, length) => sum + length, 0)
      const [split, whole] = [
        await detectInPieces(detect, samples, lengths),
        await detectInPieces(await reference, samples, [frames]),
      ]
      t.true(largestDifference(split, whole) < TOLERANCE, String(lengths))
    }),
    { numRuns: 20 },
  )
})

test('audio with a partial frame and the file of another model are refused', async (t) => {
  await t.throwsAsync(detect(new Int16Array(VAD_FRAME + 1), null), { message: /not a multiple of the frame length/ })
  const other = await readFile('test/support/fixtures/engine/exact-whisper/onnx/encoder_model.onnx')
  t.throws(() => voiceGraph(other), { message: /voice activity model has no/ })
  t.throws(() => voiceGraph(Uint8Array.of(1, 2, 3)))
})
