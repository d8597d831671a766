import { availableParallelism } from 'node:os'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { JobFailed, ModelLoadFailed } from '../../../application/ports/engine.ts'
import type { Logger } from '../../../application/ports/environment.ts'
import type { TranslationEngine } from '../../../application/ports/translation-engine.ts'
import type { Outcome, Task } from './messages.ts'
import { createPassLimits, LONGEST_TRIAL_MS } from './pass-limits.ts'
import { createTaskRunner } from './task-runner.ts'
import type { TaskRunner } from './task-runner.ts'

/** Milliseconds that every text has, however fast its translator. */
const FLOOR_MS = 60_000
/** Translations come once a phrase and are short: a core in four is plenty, and speech needs the others. */
const CORES_A_WORKER = 4

/**
 * The translators: a child process beside the speech engine's, at a lower priority; it starts when it is first needed,
 * and again whenever it dies or hangs. `models` are folders by the names they go by, and may change; `execArgv` are flags for its Node.
 */
export const createTranslationEngine = (options: {
  readonly models: ReadonlyMap<string, string>
  readonly workers?: number
  readonly logger: Logger
  readonly execArgv?: ReadonlyArray<string>
  readonly measuredPass?: (model: string) => number | undefined
}): TranslationEngine => {
  const { models, logger, execArgv = [], measuredPass } = options
  const workers = options.workers ?? Math.max(1, Math.floor(availableParallelism() / CORES_A_WORKER))
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

  const folderOf = (model: string): string | null => models.get(model) ?? null
  return {
    pid: () => started?.pid(),
    close: async () => {
      closed = true
      await started?.close()
    },
    load: (model) => async () => {
      const outcome = (await run({ kind: 'load', model, folder: folderOf(model) })) as Either<ModelLoadFailed | JobFailed, null>
      if (E.isRight(outcome)) return E.right(undefined)
      return E.left({ _tag: 'ModelLoadFailed', model, reason: outcome.left.reason })
    },
    translate: (job) => async () => (await run({ kind: 'translate', job, folder: folderOf(job.model) })) as Either<ModelLoadFailed | JobFailed, string>,
  }
}
