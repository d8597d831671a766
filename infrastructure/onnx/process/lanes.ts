import * as E from 'fp-ts/lib/Either.js'
import type { Provider } from '../providers/execution-provider.ts'
import type { Task } from './messages.ts'
import { familyOf } from '../families.ts'
import { createThreadPool, modelOf, type ThreadPool } from './thread-pool.ts'

/**
 * Maximum number of jobs in one run of a model on a GPU. Each job needs memory for its caches. On an H200, a step of 8
 * texts takes 1.2 times as long as a step of one text with the shape of base, and 2 times as long with the shape of
 * large-v3.
 */
export const GPU_BATCH = 8

const folderOf = (task: Task): string | null => (task.kind === 'detect' ? null : task.folder)

/** GPU providers cannot multiply 8-bit integers: they would send every product to one CPU thread. */
const isForGpu = async (folder: string | null, provider: Provider): Promise<boolean> => {
  if (folder === null) return false
  const family = await familyOf(folder)
  const weights = E.isLeft(family) ? family : await family.right.findWeights(folder, provider)
  return E.isRight(weights) && !weights.right.eightBits
}

/**
 * Starts the worker threads (lanes) of an engine process: `workers` for the CPU, and one for the GPU, which runs its
 * jobs in batches. Models with 8-bit weights run on the CPU. The CPU repeats a task that failed on the GPU. If the CPU
 * succeeds, this model stays on the CPU until it is loaded again.
 */
export const createLanes = (options: {
  readonly script: URL
  /** Returns how many threads may run tasks on the CPU. */
  readonly workers: () => number
  readonly provider: Provider
  readonly onDeath: (reason: string) => void
  /** Writes a warning to the service's log. */
  readonly warn: (line: string) => void
}): ThreadPool => {
  const { script, workers, provider, onDeath, warn } = options
  const cpu = createThreadPool({ script, size: workers, onDeath })
  if (provider === 'cpu') return cpu
  const gpu = createThreadPool({ script, size: () => 1, provider, batch: GPU_BATCH, onDeath })
  const failedOnGpu = new Set<string>()
  return {
    run: async (task, onBegin, signal) => {
      const model = modelOf(task) ?? ''
      if (task.kind === 'load') failedOnGpu.delete(model)
      if (failedOnGpu.has(model) || !(await isForGpu(folderOf(task), provider))) return cpu.run(task, onBegin, signal)
      const outcome = await gpu.run(task, onBegin, signal)
      if (E.isRight(outcome) || signal?.aborted === true) return outcome
      const outcomeOnCpu = await cpu.run(task, onBegin, signal)
      if (E.isLeft(outcomeOnCpu)) return outcomeOnCpu
      failedOnGpu.add(model)
      warn(`${provider} failed at ${model}, the CPU takes over: ${outcome.left.reason.replaceAll('\n', ' ')}`)
      return outcomeOnCpu
    },
  }
}
