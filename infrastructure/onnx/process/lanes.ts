import * as E from 'fp-ts/lib/Either.js'
import type { Provider } from '../providers/execution-provider.ts'
import type { Task } from './messages.ts'
import { familyOf } from '../families.ts'
import { createWorkerPool, modelOf } from './worker-pool.ts'
import type { WorkerPool } from './worker-pool.ts'

/**
 * Jobs that one run of a model on a GPU may hold. What a GPU of what size makes of it is not measured (decision 26); a run holds the
 * caches of all of them.
 */
export const GPU_BATCH = 8

const folderOf = (task: Task): string | null => (task.kind === 'detect' ? null : task.folder)

/** No GPU's provider multiplies 8-bit integers; it would send every product back to one thread of the CPU. */
const isForGpu = async (folder: string | null, provider: Provider): Promise<boolean> => {
  if (folder === null) return false
  const family = await familyOf(folder)
  const weights = E.isLeft(family) ? family : await family.right.findWeights(folder, provider)
  return E.isRight(weights) && !weights.right.eightBits
}

/**
 * The worker threads of an engine process: one thread a core for the CPU; where there is a GPU, one more that has it to itself and
 * runs its jobs in batches. A model with 8-bit weights alone stays on the CPU. What the GPU fails at, for want of memory or because it was lost, the
 * CPU does; where it can, passes of that model go there until the model is next loaded.
 */
export const createLanes = (options: {
  readonly script: URL
  readonly workers: number
  readonly provider: Provider
  readonly onDeath: (reason: string) => void
  /** Tells the one who runs the service. */
  readonly warn: (line: string) => void
}): WorkerPool => {
  const { script, workers, provider, onDeath, warn } = options
  const cpu = createWorkerPool({ script, size: workers, onDeath })
  if (provider === 'cpu') return cpu
  const gpu = createWorkerPool({ script, size: 1, provider, batch: GPU_BATCH, onDeath })
  /** Models that the GPU failed at. */
  const refused = new Set<string>()
  return {
    run: async (task, onBegin, signal) => {
      const model = modelOf(task) ?? ''
      if (task.kind === 'load') refused.delete(model)
      if (refused.has(model) || !(await isForGpu(folderOf(task), provider))) return cpu.run(task, onBegin, signal)
      const outcome = await gpu.run(task, onBegin, signal)
      if (E.isRight(outcome) || signal?.aborted === true) return outcome
      const again = await cpu.run(task, onBegin, signal)
      if (E.isLeft(again)) return again
      refused.add(model)
      warn(`${provider} fails at ${model}, the CPU takes it on: ${outcome.left.reason.replaceAll('\n', ' ')}`)
      return again
    },
  }
}
