import { availableParallelism } from 'node:os'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { JobFailed, ModelLoadFailed } from '../../../application/ports/engine.ts'
import type { Logger } from '../../../application/ports/environment.ts'
import type { TranslationEngine } from '../../../application/ports/translation-engine.ts'
import { folderIn } from './engine-child.ts'
import type { Outcome, Task } from './messages.ts'
import { createPassLimits, LONGEST_TRIAL_MS } from './pass-limits.ts'
import { createTaskRunner, type TaskRunner } from './task-runner.ts'

/** Shortest limit of a text, also for fast translators. */
const FLOOR_MS = 60_000
/** One thread for four cores: translations are short and come once per phrase, and speech needs the other cores. */
const CORES_PER_WORKER = 4

/**
 * Creates the translation engine: a child process with a lower priority than the speech engine. It starts at the first
 * task, and again whenever it dies or hangs. `models` maps names to folders and may change.
 */
export const createTranslationEngine = (options: {
  readonly models: ReadonlyMap<string, string>
  readonly workers?: number
  readonly logger: Logger
  readonly execArgv?: ReadonlyArray<string>
  readonly measuredPass?: (model: string) => number | undefined
}): TranslationEngine => {
  const { models, logger, execArgv = [], measuredPass } = options
  const workers = options.workers ?? Math.max(1, Math.floor(availableParallelism() / CORES_PER_WORKER))
  const passes = createPassLimits({ floor: FLOOR_MS, measured: measuredPass })
  const limits = { detect: 0, load: LONGEST_TRIAL_MS, passes }
  const start = (): TaskRunner => createTaskRunner({ role: 'translation', workers, logger, execArgv, limits })
  let started: TaskRunner | null = null
  let closed = false

  const run = async (task: Task): Promise<Outcome> => {
    if (closed) return E.left({ _tag: 'JobFailed', reason: 'the engine is closed' })
    started ??= start()
    return await started.run(task)
  }

  const folderOf = folderIn(models)
  return {
    pid: () => started?.pid(),
    close: async () => {
      closed = true
      await started?.close()
    },
    load: async (model) => {
      const answer = await run({ kind: 'load', model, folder: folderOf(model) })
      const outcome = answer as Either<ModelLoadFailed | JobFailed, null>
      if (E.isRight(outcome)) return E.right(undefined)
      return E.left({ _tag: 'ModelLoadFailed', model, reason: outcome.left.reason })
    },
    translate: async (job) => {
      const answer = await run({ kind: 'translate', job, folder: folderOf(job.model) })
      return answer as Either<ModelLoadFailed | JobFailed, string>
    },
  }
}
