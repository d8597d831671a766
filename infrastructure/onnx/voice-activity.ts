import { Tensor } from 'onnxruntime-node'
import { SAMPLE_RATE, VAD_FRAME } from '../../application/ports/engine.ts'
import type { SpeechProbabilities, VadState } from '../../application/ports/engine.ts'
import { openSession } from './sessions.ts'

type DetectSpeech = (samples: Int16Array, state: VadState) => Promise<SpeechProbabilities>

/** Silero's recurrent state, [2, 1, 128]. */
const RECURRENT = 256
/** Samples of the frame before that each frame is heard with. */
const CONTEXT = 64

/** Silero VAD (version 5), loaded at the first call. A VadState is its recurrent state and the last CONTEXT samples. */
export const createVoiceActivity = (file: string): DetectSpeech => {
  let opening: ReturnType<typeof openSession> | null = null
  const rate = new Tensor('int64', BigInt64Array.of(BigInt(SAMPLE_RATE)), [])
  return async (samples, state) => {
    if (samples.length % VAD_FRAME !== 0) throw new Error(`${samples.length} samples are no whole number of frames of ${VAD_FRAME}`)
    opening ??= openSession(file)
    const session = await opening
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
      const probability = results['output']?.data[0]
      const next = results['stateN']?.data
      if (typeof probability !== 'number' || !(next instanceof Float32Array)) throw new Error('the voice activity model has other outputs')
      probabilities[frame] = probability
      recurrent = Float32Array.from(next)
      input.copyWithin(0, VAD_FRAME)
    }
    return { probabilities, state: Float32Array.of(...recurrent, ...input.subarray(0, CONTEXT)) }
  }
}
