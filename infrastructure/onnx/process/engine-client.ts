import { availableParallelism } from 'node:os'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type {
  Hypothesis,
  JobFailed,
  LoadedModel,
  ModelLoadFailed,
  SpeechEngine,
  SpeechProbabilities,
} from '../../../application/ports/engine.ts'
import type { Logger } from '../../../application/ports/environment.ts'
import type { ProviderChoice } from '../providers/execution-provider.ts'
import { GPU_BATCH } from './lanes.ts'
import { createTaskRunner } from './task-runner.ts'
import type { TaskLimits } from './task-runner.ts'

type Limits = Omit<TaskLimits, 'translate'>

/**
 * Far more than a slow machine needs, and no live is served by a slower one: a call that takes longer hangs. Detection
 * takes milliseconds, and the detections of all lives wait for one another.
 */
const LIMITS: Limits = { detect: 30_000, transcribe: 120_000, load: 600_000 }

/**
 * The speech engine: a child process that is started at once, and again whenever it dies or hangs. `models` are folders by the
 * names they go by, and may change; `workers` defaults to the number of cores; `execArgv` are flags for its Node.
 */
export const createSpeechEngine = (options: {
  readonly models: ReadonlyMap<string, string>
  readonly workers?: number
  readonly logger: Logger
  readonly execArgv?: ReadonlyArray<string>
  readonly limits?: Limits
}): SpeechEngine => {
  const workers = options.workers ?? availableParallelism()
  let parallelism = workers
  const onReady = ({ provider }: ProviderChoice): void => {
    // As many as a batch takes, so that there are some to make it of.
    parallelism = provider === 'cpu' ? workers : Math.max(workers, GPU_BATCH)
  }
  const { models, logger, execArgv = [], limits = LIMITS } = options
  const runner = createTaskRunner({ role: 'speech', workers, logger, execArgv, limits: { ...limits, translate: 0 }, onReady })
  const folderOf = (model: string): string | null => models.get(model) ?? null
  return {
    get parallelism() {
      return parallelism
    },
    pid: runner.pid,
    close: runner.close,
    load: (model) => async () => {
      const outcome = (await runner.run({ kind: 'load', model, folder: folderOf(model) })) as Either<ModelLoadFailed | JobFailed, LoadedModel>
      return E.mapLeft(({ reason }: ModelLoadFailed | JobFailed): ModelLoadFailed => ({ _tag: 'ModelLoadFailed', model, reason }))(outcome)
    },
    transcribe: (job) => async () => {
      const task = { kind: 'transcribe', job, folder: folderOf(job.model) } as const
      return (await runner.run(task)) as Either<ModelLoadFailed | JobFailed, Hypothesis>
    },
    detectSpeech: (samples, state) => async () => {
      const task = { kind: 'detect', samples, state } as const
      return (await runner.run(task)) as Either<JobFailed, SpeechProbabilities>
    },
  }
}
