import { Tensor } from 'onnxruntime-node'
import { SAMPLE_RATE, VAD_FRAME } from '../application/ports/engine.ts'
import { openSession } from '../infrastructure/onnx/sessions.ts'
import { SILERO, type DetectSpeech } from '../infrastructure/onnx/voice-activity.ts'

/** Number of values in the recurrent state of the network. */
const RECURRENT = 256
/** Number of samples before a frame that the network reads with the frame. */
const CONTEXT = 64

/**
 * Opens Silero VAD with its original graph, one frame per run: the peer of our detector. Both use the same state
 * format.
 */
export const openFrameByFrame = async (): Promise<DetectSpeech> => {
  const session = await openSession(SILERO)
  const rate = new Tensor('int64', BigInt64Array.of(BigInt(SAMPLE_RATE)), [])
  return async (samples, state) => {
    const probabilities = new Float32Array(samples.length / VAD_FRAME)
    let recurrent = state === null ? new Float32Array(RECURRENT) : state.slice(0, RECURRENT)
    const input = new Float32Array(CONTEXT + VAD_FRAME)
    if (state !== null) input.set(state.subarray(RECURRENT))
    for (let frame = 0; frame < probabilities.length; frame++) {
      for (let i = 0; i < VAD_FRAME; i++) input[CONTEXT + i] = (samples[frame * VAD_FRAME + i] ?? 0) / 32768
      const results = await session.run({
        input: new Tensor('float32', input, [1, input.length]),
        state: new Tensor('float32', recurrent, [2, 1, RECURRENT / 2]),
        sr: rate,
      })
      probabilities[frame] = Number(results['output']?.data[0])
      recurrent = Float32Array.from(results['stateN']?.data as Float32Array)
      input.copyWithin(0, VAD_FRAME)
    }
    return { probabilities, state: Float32Array.of(...recurrent, ...input.subarray(0, CONTEXT)) }
  }
}
