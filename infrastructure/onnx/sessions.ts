import { readFile } from 'node:fs/promises'
import { InferenceSession } from 'onnxruntime-node'
import type { GpuProvider, Provider } from './providers/execution-provider.ts'
import { type GraphFiles, readGraphFiles } from './model-files/graph-files.ts'
import { withRowScales } from './graphs/row-scales.ts'
import { withShortWindows } from './graphs/short-window.ts'
import { withSignedWeights } from './graphs/signed-weights.ts'

/** Returns whether the CPU multiplies unsigned by signed bytes without saturation; false when this is unknown. */
const hasVnni = async (): Promise<boolean> => {
  const facts = await readFile('/proc/cpuinfo', 'utf8').catch(() => '')
  return /^flags\s*:.*\b(?:avx512_vnni|avx_vnni)\b/m.test(facts)
}

/** Returns the graph, or the graph rewritten for shorter windows, more exact activations or faster products. */
const rewritten = async (
  { graph, externalData }: GraphFiles,
  isExact: boolean,
  positions: number | null,
): Promise<Uint8Array> => {
  // The rewriting needs all weights in the graph.
  if (externalData.length > 0) return graph
  try {
    const shortened = (positions === null ? null : withShortWindows(graph, positions)) ?? graph
    const exact = isExact ? withRowScales(shortened) : null
    return exact ?? ((await hasVnni()) ? withSignedWeights(shortened) : null) ?? shortened
  } catch {
    // onnxruntime reports the damage of a graph more precisely.
    return graph
  }
}

/**
 * Opens a graph on a GPU. Node's binding takes no option of CUDA except the device, so CUDA's arena has no limit.
 * CUDA's results pass through main memory; only WebGPU keeps them on the device.
 */
const openOnGpu = (
  { graph, externalData }: GraphFiles,
  provider: GpuProvider,
  kept: ReadonlyArray<string>,
): Promise<InferenceSession> => {
  const preferredOutputLocation = Object.fromEntries(kept.map((output) => [output, 'gpu-buffer' as const]))
  return InferenceSession.create(graph, {
    externalData,
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
 */
export const openOnCpu = (
  graph: Uint8Array,
  externalData: GraphFiles['externalData'] = [],
): Promise<InferenceSession> =>
  InferenceSession.create(graph, {
    externalData,
    executionProviders: ['cpu'],
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    graphOptimizationLevel: 'all',
    logSeverityLevel: 3,
    extra: { session: { intra_op: { allow_spinning: '0' } } },
  })

interface OpenOptions {
  readonly provider?: Provider
  /** On the CPU, each block of a row of 8-bit activations gets its own scale. This takes about 50 % more time. */
  readonly isExact?: boolean
  /** Positions of an encoder's full window. On the CPU, the encoder then takes shorter windows where possible. */
  readonly positions?: number
  /** Outputs that only graphs of the same model read. They stay on the device where possible. */
  readonly kept?: ReadonlyArray<string>
}

/**
 * Opens a graph on a provider. Throws when the graph or its weights may not be used, or onnxruntime's error when it
 * does not load.
 */
export const openSession = async (file: string, options: OpenOptions = {}): Promise<InferenceSession> => {
  const { provider = 'cpu', isExact = false, positions = null, kept = [] } = options
  const files = await readGraphFiles(file)
  return provider === 'cpu'
    ? openOnCpu(await rewritten(files, isExact, positions), files.externalData)
    : openOnGpu(files, provider, kept)
}
