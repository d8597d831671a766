import { readFile } from 'node:fs/promises'
import { InferenceSession } from 'onnxruntime-node'
import { withSignedWeights } from './signed-weights.ts'

/** Whether the CPU multiplies unsigned by signed bytes without saturation; where nobody tells, it does not. */
const hasVnni = async (): Promise<boolean> => {
  const facts = await readFile('/proc/cpuinfo', 'utf8').catch(() => '')
  return /^flags\s*:.*\b(?:avx512_vnni|avx_vnni)\b/m.test(facts)
}

/** What to load: the file, or its graph with signed weights where that is faster. */
const sourceOf = async (file: string): Promise<string | Uint8Array> => {
  if (!(await hasVnni())) return file
  const bytes = await readFile(file)
  try {
    return withSignedWeights(bytes) ?? file
  } catch {
    // onnxruntime says better what is wrong with it.
    return file
  }
}

/**
 * A graph on the CPU with one thread of its own: there is a worker for each core, and idle threads that spin would take
 * the cores from the other workers.
 */
export const openSession = async (file: string): Promise<InferenceSession> => {
  const options: InferenceSession.SessionOptions = {
    executionProviders: ['cpu'],
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    graphOptimizationLevel: 'all',
    logSeverityLevel: 3,
    extra: { session: { intra_op: { allow_spinning: '0' } } },
  }
  const source = await sourceOf(file)
  return typeof source === 'string' ? InferenceSession.create(source, options) : InferenceSession.create(source, options)
}
