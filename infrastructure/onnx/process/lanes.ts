import * as E from 'fp-ts/lib/Either.js'
import type { Provider } from '../providers/execution-provider.ts'
import type { Task } from './messages.ts'
import { familyOf } from '../families.ts'
import { createWorkerPool } from './worker-pool.ts'
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
 * runs its jobs in batches. A model with 8-bit weights alone stays on the CPU.
 */
export const createLanes = (options: {
  readonly script: URL
  readonly workers: number
  readonly provider: Provider
  readonly onDeath: (reason: string) => void
}): WorkerPool => {
  const { script, workers, provider, onDeath } = options
  const cpu = createWorkerPool({ script, size: workers, onDeath })
  if (provider === 'cpu') return cpu
  const gpu = createWorkerPool({ script, size: 1, provider, batch: GPU_BATCH, onDeath })
  return { run: async (task, onBegin) => ((await isForGpu(folderOf(task), provider)) ? gpu : cpu).run(task, onBegin) }
}
