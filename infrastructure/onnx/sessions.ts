import { readFile } from 'node:fs/promises'
import { InferenceSession } from 'onnxruntime-node'
import type { GpuProvider, Provider } from './providers/execution-provider.ts'
import { withRowScales } from './graphs/row-scales.ts'
import { withShortWindows } from './graphs/short-window.ts'
import { withSignedWeights } from './graphs/signed-weights.ts'

/** Returns whether the CPU multiplies unsigned by signed bytes without saturation; false when this is unknown. */
const hasVnni = async (): Promise<boolean> => {
  const facts = await readFile('/proc/cpuinfo', 'utf8').catch(() => '')
  return /^flags\s*:.*\b(?:avx512_vnni|avx_vnni)\b/m.test(facts)
}

/** Returns the file, or its graph rewritten for shorter windows, more exact activations or faster products. */
const sourceOf = async (file: string, isExact: boolean, positions: number | null): Promise<string | Uint8Array> => {
  const isFasterSigned = await hasVnni()
  if (!isExact && !isFasterSigned && positions === null) return file
  const bytes = await readFile(file)
  try {
    const shortened = positions === null ? null : withShortWindows(bytes, positions)
    const graph = shortened ?? bytes
    const exact = isExact ? withRowScales(graph) : null
    return exact ?? (isFasterSigned ? withSignedWeights(graph) : null) ?? shortened ?? file
  } catch {
    // onnxruntime reports the damage of a file more precisely.
    return file
  }
}

/**
 * Opens a graph on a GPU. Node's binding takes no option of CUDA except the device, so CUDA's arena has no limit.
 * CUDA's results pass through main memory; only WebGPU keeps them on the device.
 */
const openOnGpu = (file: string, provider: GpuProvider, kept: ReadonlyArray<string>): Promise<InferenceSession> => {
  const preferredOutputLocation = Object.fromEntries(kept.map((output) => [output, 'gpu-buffer' as const]))
  return InferenceSession.create(file, {
    executionProviders: [provider],
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
    ...(provider === 'webgpu' && { preferredOutputLocation }),
  })
}

/**
 * Opens a graph on the CPU with a single thread: each core has a worker, and spinning idle threads would slow down the
 * other workers.
 *
 * @param source path or bytes of an ONNX file
 */
export const openOnCpu = (source: string | Uint8Array): Promise<InferenceSession> => {
  const options: InferenceSession.SessionOptions = {
    executionProviders: ['cpu'],
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    graphOptimizationLevel: 'all',
    logSeverityLevel: 3,
    extra: { session: { intra_op: { allow_spinning: '0' } } },
  }
  return typeof source === 'string'
    ? InferenceSession.create(source, options)
    : InferenceSession.create(source, options)
}

interface OpenOptions {
  readonly provider?: Provider
  /** On the CPU, each block of a row of 8-bit activations gets its own scale. This takes about 50 % more time. */
  readonly isExact?: boolean
  /** Positions of an encoder's full window. On the CPU, the encoder then takes shorter windows where possible. */
  readonly positions?: number
  /** Outputs that only graphs of the same model read. They stay on the device where possible. */
  readonly kept?: ReadonlyArray<string>
}

/** Opens a graph on a provider. Throws onnxruntime's error when the graph does not load. */
export const openSession = async (file: string, options: OpenOptions = {}): Promise<InferenceSession> => {
  const { provider = 'cpu', isExact = false, positions = null, kept = [] } = options
  return provider === 'cpu' ? openOnCpu(await sourceOf(file, isExact, positions)) : openOnGpu(file, provider, kept)
}
