import { type InferenceSession, Tensor } from 'onnxruntime-node'
import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import { cacheOutputs, CROSS_ATTENTION, type Decoder, mergedDecoder, twoFileDecoder } from '../decoder.ts'
import { disposeTensors } from '../device-tensors.ts'
import type { Provider } from '../providers/execution-provider.ts'
import { openSession } from '../sessions.ts'
import type { Features } from './log-mel.ts'
import type { WhisperModel } from './whisper-model.ts'

/** Shortest reliable window of models with dynamic windows, in seconds. Measured. */
export const SHORTEST_WINDOW = 3

const ENCODED = 'last_hidden_state'

/** Axes of the features [rows][mel bins][frames]. */
const [ROWS, FRAMES] = [0, 2]

/** The loaded graphs of a model. */
export interface WhisperGraphs {
  readonly decoder: Decoder
  readonly hasWordTimes: boolean
  /** Whether the encoder accepts windows shorter than the full one. */
  readonly acceptsShortWindows: boolean
  /** Whether the encoder accepts several windows in one run. */
  readonly acceptsBatches: boolean
  /** Encodes windows of one length to [windows][positions][width], calls `use`, and then releases the result. */
  readonly encode: <A>(windows: ReadonlyArray<Features>, use: (encoded: Tensor) => Promise<A>) => Promise<A>
  readonly release: () => Promise<void>
}

type Open = (file: string, options: Omit<Parameters<typeof openSession>[1], 'provider'>) => Promise<InferenceSession>

const openDecoder = async (model: WhisperModel, open: Open): Promise<Decoder> => {
  const { decoder } = model.weights
  const { whole, growing } = cacheOutputs(model.decoderLayers)
  if (decoder.kind === 'merged') return mergedDecoder(await open(decoder.file, { kept: whole }), model)
  const prompt = await open(decoder.prompt, { kept: whole })
  const next = await open(decoder.next, { kept: growing })
  const followed = new Set(model.alignmentHeads.map(([layer]) => `${CROSS_ATTENTION}${layer}`))
  return twoFileDecoder(prompt, next, (output) => !output.startsWith(CROSS_ATTENTION) || followed.has(output))
}

/** Returns whether an input axis accepts any length. An axis with a fixed length has a number as its shape. */
const acceptsAny = (axis: number, encoder: InferenceSession): boolean => {
  const input = encoder.inputMetadata.find(({ name }) => name === 'input_features')
  return input?.isTensor === true && typeof input.shape[axis] !== 'number'
}

/**
 * Opens all graphs of a model on one provider, because graphs read each other's results on the device. Throws
 * onnxruntime's error when a graph does not load.
 */
export const openGraphs = async (model: WhisperModel, provider: Provider): Promise<WhisperGraphs> => {
  const opened: Array<InferenceSession> = []
  const open: Open = async (file, options) => {
    const session = await openSession(file, { provider, ...options })
    opened.push(session)
    return session
  }
  const release = async (): Promise<void> => {
    for (const session of opened.splice(0)) await session.release()
  }
  const { melBins, hopLength } = model.mel

  const load = async (): Promise<WhisperGraphs> => {
    const decoder = await openDecoder(model, open)
    const hasWordTimes = decoder.hasAttention && model.alignmentHeads.length > 0
    // Without word times, exact activations cost 10 % more time and improve nothing.
    const encoder = await open(model.weights.encoder, {
      isExact: hasWordTimes,
      positions: model.windowSamples / hopLength / 2,
      kept: [ENCODED],
    })

    const encode: WhisperGraphs['encode'] = async (windows, use) => {
      const [{ data, frames } = { data: new Float32Array(0), frames: 0 }] = windows
      const features = windows.length === 1 ? data : new Float32Array(windows.length * data.length)
      if (windows.length > 1) windows.forEach((window, row) => features.set(window.data, row * data.length))
      const results = await encoder.run({
        input_features: new Tensor('float32', features, [windows.length, melBins, frames]),
      })
      const encoded = results[ENCODED]
      if (encoded === undefined) throw new Error(`the encoder has no output "${ENCODED}"`)
      return use(encoded).finally(() => disposeTensors(results))
    }

    /** Tries a short window, because some exports wrongly declare that they take any number of frames. */
    const runsShortWindow = (): Promise<boolean> => {
      const frames = 2 * Math.floor(Math.min(SHORTEST_WINDOW * SAMPLE_RATE, model.windowSamples) / hopLength / 2)
      return encode([{ data: new Float32Array(melBins * frames), frames }], async () => true).catch(() => false)
    }

    const acceptsShortWindows = acceptsAny(FRAMES, encoder) && (await runsShortWindow())
    return { decoder, hasWordTimes, acceptsShortWindows, acceptsBatches: acceptsAny(ROWS, encoder), encode, release }
  }

  return load().catch(async (error: unknown) => {
    await release()
    throw error
  })
}
