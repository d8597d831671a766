import { readFile } from 'node:fs/promises'
import { InferenceSession } from 'onnxruntime-node'
import type { GpuProvider, Provider } from './providers/execution-provider.ts'
import { withRowScales } from './graphs/row-scales.ts'
import { withShortWindows } from './graphs/short-window.ts'
import { withSignedWeights } from './graphs/signed-weights.ts'

/** Whether the CPU multiplies unsigned by signed bytes without saturation; where nobody tells, it does not. */
const hasVnni = async (): Promise<boolean> => {
  const facts = await readFile('/proc/cpuinfo', 'utf8').catch(() => '')
  return /^flags\s*:.*\b(?:avx512_vnni|avx_vnni)\b/m.test(facts)
}

/** What to load: the file, or its graph as it hears shorter windows, or is computed more exactly, or faster. */
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
    // onnxruntime says better what is wrong with it.
    return file
  }
}

/**
 * The arena of CUDA cannot be limited: of its options Node's binding takes the device alone (decision 26). Nor does it leave
 * results in CUDA's memory: what WebGPU keeps goes through main memory there.
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
 * A graph, a file or its bytes, on the CPU with one thread of its own: there is a worker for each core, and idle threads that spin would take
 * the cores from the other workers.
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
  return typeof source === 'string' ? InferenceSession.create(source, options) : InferenceSession.create(source, options)
}

interface OpenOptions {
  readonly provider?: Provider
  /** On the CPU 8-bit activations get a scale for each block of a row, which takes about half as long again. */
  readonly isExact?: boolean
  /** Of an encoder: how many positions its full window has; on the CPU it takes shorter ones, where that can be. */
  readonly positions?: number
  /** Outputs that are only fed to graphs of the same model: they stay on the device, where that can be. */
  readonly kept?: ReadonlyArray<string>
}

/** Throws what onnxruntime says where it does not load. */
export const openSession = async (file: string, options: OpenOptions = {}): Promise<InferenceSession> => {
  const { provider = 'cpu', isExact = false, positions = null, kept = [] } = options
  return provider === 'cpu' ? openOnCpu(await sourceOf(file, isExact, positions)) : openOnGpu(file, provider, kept)
}
