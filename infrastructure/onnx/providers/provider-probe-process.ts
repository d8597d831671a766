import { availableParallelism } from 'node:os'
import * as E from 'fp-ts/lib/Either.js'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { messageOf } from '../../../domain/shared/message-of.ts'
import { compareTwice, type ProbeAnswer, type ProbeTimes } from './execution-provider.ts'
import { probeGraph, type ProbeShape } from '../graphs/probe-graph.ts'

/*
 * A process that runs a small and a large graph on a provider (its only argument) and on the CPU. It compares the
 * results and the times, and sends a ProbeAnswer.
 */

/** Number of measured runs. */
const RUNS = 5
/** No further run begins after this time. */
const ENOUGH_MS = 2000
/** Largest allowed error of results around 1, because GPUs multiply with fewer bits (TF32). */
const TOLERANCE = 0.02

/** Returns pseudo-random numbers between -scale and scale, the same at each call. */
const noise = (size: number, scale: number): Tensor => {
  let seed = 1
  const data = Float32Array.from({ length: size * size }, () => {
    seed = (seed * 48271) % 2147483647
    return scale * ((2 * seed) / 2147483647 - 1)
  })
  return new Tensor('float32', data, [size, size])
}

interface Measured {
  readonly result: Float32Array
  readonly milliseconds: number
}

/** Returns the fastest of RUNS runs. The first run compiles the graph and does not count. */
const measure = async (shape: ProbeShape, options: InferenceSession.SessionOptions): Promise<Measured> => {
  const { size } = shape
  const session = await InferenceSession.create(probeGraph(shape), { ...options, logSeverityLevel: 4 })
  // With this scale the results stay around 1.
  const feeds = { x: noise(size, 1), weights: noise(size, Math.sqrt(3 / size)) }
  let milliseconds = Infinity
  let result: Float32Array = new Float32Array(0)
  let spent = 0
  for (let run = 0; run <= RUNS && (run < 2 || spent < ENOUGH_MS); run++) {
    const began = performance.now()
    const data = (await session.run(feeds))['y']?.data
    const took = performance.now() - began
    if (run > 0) milliseconds = Math.min(milliseconds, took)
    spent += took
    if (!(data instanceof Float32Array)) throw new Error('the probe returned no numbers')
    result = data
  }
  await session.release()
  return { result, milliseconds }
}

const compare = async (provider: string, shape: ProbeShape): Promise<ProbeTimes> => {
  const cpu = await measure(shape, { executionProviders: ['cpu'], intraOpNumThreads: availableParallelism() })
  // Without this option onnxruntime silently runs unsupported operators on the CPU.
  const extra = { session: { disable_cpu_ep_fallback: '1' } }
  const gpu = await measure(shape, { executionProviders: [provider], extra })
  const error = gpu.result.reduce((most, value, i) => Math.max(most, Math.abs(value - (cpu.result[i] ?? NaN))), 0)
  if (!(error <= TOLERANCE)) throw new Error(`its results are wrong by up to ${error}`)
  return { gpu: gpu.milliseconds, cpu: cpu.milliseconds }
}

const provider = process.argv[2] ?? 'cpu'
const answer = await compareTwice((shape) => compare(provider, shape)).then(
  (times): ProbeAnswer => E.right(times),
  (error: unknown): ProbeAnswer => E.left(messageOf(error)),
)
// The parent kills this process after the answer, because drivers may unload slowly or crash.
process.send?.(answer)
