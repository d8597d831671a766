import { readFile } from 'node:fs/promises'
import test from 'ava'
import fc from 'fast-check'
import { SAMPLE_RATE, VAD_FRAME } from '../../../application/ports/engine.ts'
import type { VadState } from '../../../application/ports/engine.ts'
import { createVoiceActivity } from '../../../infrastructure/onnx/voice-activity.ts'
import type { DetectSpeech } from '../../../infrastructure/onnx/voice-activity.ts'
import { voiceGraph } from '../../../infrastructure/onnx/graphs/voice-graph.ts'
import { demoSpeech } from '../../../bench/audio.ts'
import { openFrameByFrame } from '../../../bench/frame-by-frame.ts'

const detect = createVoiceActivity()
const reference = openFrameByFrame()

/** Nothing was further apart here than 0; another processor may add in another order. */
const NEAR = 1e-4

/** The probabilities of consecutive pieces, so many frames long, and the state behind them. */
const judge = async (
  run: DetectSpeech,
  samples: Int16Array,
  frames: ReadonlyArray<number>,
): Promise<ReadonlyArray<number>> => {
  const judged: number[] = []
  let [at, state]: [number, VadState] = [0, null]
  for (const some of frames) {
    const answer = await run(samples.subarray(at, at + some * VAD_FRAME), state)
    at += some * VAD_FRAME
    state = answer.state
    judged.push(...answer.probabilities)
  }
  return [...judged, ...(state ?? [])]
}

const furthest = (one: ReadonlyArray<number>, other: ReadonlyArray<number>): number =>
  one.length === other.length
    ? one.reduce((most, value, i) => Math.max(most, Math.abs(value - (other[i] ?? Infinity))), 0)
    : Infinity

test("frames in one run get the probabilities of Silero's own graph", async (t) => {
  const { samples } = await demoSpeech()
  const frames = Math.floor((20 * SAMPLE_RATE) / VAD_FRAME)
  const one = await judge(await reference, samples, [frames])
  const probabilities = one.slice(0, frames)
  t.true(
    probabilities.some((value) => value > 0.9) && probabilities.some((value) => value < 0.1),
    'there is speech, and there are pauses',
  )
  t.true(furthest(await judge(detect, samples, [frames]), one) < NEAR)
})

test('the split of frames between calls changes nothing', async (t) => {
  const { samples } = await demoSpeech()
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 8 }), async (shares) => {
      const frames = shares.reduce((sum, some) => sum + some, 0)
      t.true(
        furthest(await judge(detect, samples, shares), await judge(await reference, samples, [frames])) < NEAR,
        String(shares),
      )
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
