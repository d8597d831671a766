import { availableParallelism } from 'node:os'
import * as E from 'fp-ts/lib/Either.js'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { messageOf } from '../../../domain/shared/message-of.ts'
import type { ProbeAnswer, ProbeTimes } from './execution-provider.ts'
import { PROBE_SIZE, probeGraph } from '../graphs/probe-graph.ts'

/**
 * A process that runs one small graph on the provider it is told (its only argument) and on the CPU, compares results and times,
 * and sends what it found.
 */
const RUNS = 5
/** Nor more runs once they took so many milliseconds: what needs that long is no GPU. */
const ENOUGH_MS = 2000
/** GPUs multiply with fewer bits (TF32): this much a result of size 1 may be off. */
const TOLERANCE = 0.02

/** Numbers that look random, the same each time: between -1 and 1. */
const noise = (scale: number): Tensor => {
  let seed = 1
  const data = Float32Array.from({ length: PROBE_SIZE * PROBE_SIZE }, () => {
    seed = (seed * 48271) % 2147483647
    return scale * ((2 * seed) / 2147483647 - 1)
  })
  return new Tensor('float32', data, [PROBE_SIZE, PROBE_SIZE])
}

interface Measured {
  readonly result: Float32Array
  readonly milliseconds: number
}

/** The best of RUNS, after one that compiles. */
const measure = async (options: InferenceSession.SessionOptions): Promise<Measured> => {
  const session = await InferenceSession.create(probeGraph(), { ...options, logSeverityLevel: 4 })
  // Products of so many numbers of this size stay around 1.
  const feeds = { x: noise(1), weights: noise(Math.sqrt(3 / PROBE_SIZE)) }
  let milliseconds = Infinity
  let result: Float32Array = new Float32Array(0)
  let spent = 0
  for (let run = 0; run <= RUNS && (run < 2 || spent < ENOUGH_MS); run++) {
    const began = performance.now()
    const data = (await session.run(feeds))['y']?.data
    const took = performance.now() - began
    if (run > 0) milliseconds = Math.min(milliseconds, took)
    spent += took
    if (!(data instanceof Float32Array)) throw new Error('the probe gave no numbers')
    result = data
  }
  await session.release()
  return { result, milliseconds }
}

const probe = async (provider: string): Promise<ProbeTimes> => {
  const cpu = await measure({ executionProviders: ['cpu'], intraOpNumThreads: availableParallelism() })
  // Without the switch onnxruntime runs on the CPU what the provider cannot, and says nothing.
  const gpu = await measure({ executionProviders: [provider], extra: { session: { disable_cpu_ep_fallback: '1' } } })
  const furthest = gpu.result.reduce((most, value, i) => Math.max(most, Math.abs(value - (cpu.result[i] ?? NaN))), 0)
  if (!(furthest <= TOLERANCE)) throw new Error(`it computes wrongly (off by ${furthest})`)
  return { gpu: gpu.milliseconds, cpu: cpu.milliseconds }
}

const answer = await probe(process.argv[2] ?? 'cpu').then(
  (times): ProbeAnswer => E.right(times),
  (error: unknown): ProbeAnswer => E.left(messageOf(error)),
)
// Our parent ends us when it has the answer: drivers take their time to unload, or crash.
process.send?.(answer)
