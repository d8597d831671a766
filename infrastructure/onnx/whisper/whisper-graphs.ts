import { Tensor } from 'onnxruntime-node'
import type { InferenceSession } from 'onnxruntime-node'
import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import { cacheOutputs, mergedDecoder, twoFileDecoder } from '../decoder.ts'
import type { Decoder } from '../decoder.ts'
import { disposeTensors } from '../device-tensors.ts'
import type { Provider } from '../providers/execution-provider.ts'
import { openSession } from '../sessions.ts'
import type { Features } from './log-mel.ts'
import type { WhisperModel } from './whisper-model.ts'

/** The shortest window on which the models with a dynamic one were found to be reliable, in seconds. */
export const SHORTEST_WINDOW = 3

const ENCODED = 'last_hidden_state'

/** The axes of the features: rows, mel bins, frames. */
const [ROWS, FRAMES] = [0, 2]

/** The graphs of a model, in memory. */
export interface WhisperGraphs {
  readonly decoder: Decoder
  readonly hasWordTimes: boolean
  /** It hears windows that are shorter than the full one. */
  readonly takesShort: boolean
  /** It hears several windows in one run. */
  readonly batches: boolean
  /** What `use` makes of windows of one length once they are encoded, [windows][positions][width]; they are given back then. */
  readonly hear: <A>(windows: ReadonlyArray<Features>, use: (encoded: Tensor) => Promise<A>) => Promise<A>
  readonly release: () => Promise<void>
}

type Open = (file: string, options: Omit<Parameters<typeof openSession>[1], 'provider'>) => Promise<InferenceSession>

const openDecoder = async (model: WhisperModel, open: Open): Promise<Decoder> => {
  const { decoder } = model.weights
  const { whole, growing } = cacheOutputs(model.decoderLayers)
  return decoder.kind === 'two'
    ? twoFileDecoder(await open(decoder.prompt, { kept: whole }), await open(decoder.next, { kept: growing }))
    : mergedDecoder(await open(decoder.file, { kept: whole }), model)
}

/** Whether the graph takes any number of rows or of frames; a fixed axis of the export shows as a number. */
const takesAny = (axis: number, encoder: InferenceSession): boolean => {
  const input = encoder.inputMetadata.find(({ name }) => name === 'input_features')
  return input?.isTensor === true && typeof input.shape[axis] !== 'number'
}

/** Opens them all on one provider: what one graph leaves on a device another must find there. Throws what onnxruntime says where one does not load. */
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
    const hasWordTimes = decoder.tellsAttention && model.alignmentHeads.length > 0
    // Where words have no times, to be exact costs a tenth more, and nothing was gained.
    const encoder = await open(model.weights.encoder, {
      isExact: hasWordTimes, positions: model.windowSamples / hopLength / 2, kept: [ENCODED],
    })

    const hear: WhisperGraphs['hear'] = async (windows, use) => {
      const [{ data, frames } = { data: new Float32Array(0), frames: 0 }] = windows
      const features = windows.length === 1 ? data : new Float32Array(windows.length * data.length)
      if (windows.length > 1) windows.forEach((window, row) => features.set(window.data, row * data.length))
      const results = await encoder.run({ input_features: new Tensor('float32', features, [windows.length, melBins, frames]) })
      const encoded = results[ENCODED]
      if (encoded === undefined) throw new Error(`the encoder has no output "${ENCODED}"`)
      return use(encoded).finally(() => disposeTensors(results))
    }

    /** Some exports say that they take any number of frames, and do not. */
    const hearsShort = (): Promise<boolean> => {
      const frames = 2 * Math.floor(Math.min(SHORTEST_WINDOW * SAMPLE_RATE, model.windowSamples) / hopLength / 2)
      return hear([{ data: new Float32Array(melBins * frames), frames }], async () => true).catch(() => false)
    }

    const takesShort = takesAny(FRAMES, encoder) && (await hearsShort())
    return { decoder, hasWordTimes, takesShort, batches: takesAny(ROWS, encoder), hear, release }
  }

  return load().catch(async (error: unknown) => {
    await release()
    throw error
  })
}
