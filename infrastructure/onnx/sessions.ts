import { InferenceSession } from 'onnxruntime-node'

/**
 * A graph on the CPU with one thread of its own: there is a worker for each core, and idle threads that spin would take
 * the cores from the other workers.
 */
export const openSession = async (file: string): Promise<InferenceSession> =>
  InferenceSession.create(file, {
    executionProviders: ['cpu'],
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    graphOptimizationLevel: 'all',
    logSeverityLevel: 3,
    extra: { session: { intra_op: { allow_spinning: '0' } } },
  })
