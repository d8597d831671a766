import { availableParallelism } from 'node:os'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type {
  Device,
  Hypothesis,
  JobFailed,
  LoadedModel,
  ModelLoadFailed,
  SpeechEngine,
  SpeechProbabilities,
} from '../../../application/ports/engine.ts'
import type { Logger } from '../../../application/ports/environment.ts'
import type { EngineGpu } from '../providers/engine-gpus.ts'
import { GPU_BATCH } from './lanes.ts'
import { createPassLimits, LONGEST_TRIAL_MS } from './pass-limits.ts'
import { createTaskRunner } from './task-runner.ts'

/** Milliseconds. */
interface Limits {
  readonly detect: number
  readonly load: number
  /** That every pass has, however fast its model. */
  readonly transcribe: number
  /** That a pass of a model has which nobody has measured. */
  readonly unmeasured: number
}

/**
 * A model that passed its trial must not be killed for being slow, so it has as long here. Detection takes milliseconds,
 * and the detections of all sessions wait for one another.
 */
const LIMITS: Limits = { detect: 30_000, transcribe: 120_000, load: LONGEST_TRIAL_MS, unmeasured: LONGEST_TRIAL_MS }

/**
 * The speech engine: a child process that is started at once, and again whenever it dies or hangs. `models` are folders by the
 * names they go by, and may change; `workers` defaults to the number of cores; `measuredPass` tells what a pass of a
 * model took in its trial, in milliseconds; `execArgv` are flags for its Node.
 */
export const createSpeechEngine = (options: {
  readonly models: ReadonlyMap<string, string>
  readonly measuredPass?: (model: string) => number | undefined
  readonly workers?: number
  readonly logger: Logger
  readonly execArgv?: ReadonlyArray<string>
  /** Id of the only GPU that it uses; absent: the first that it finds. */
  readonly gpu?: string
  readonly limits?: Limits
}): SpeechEngine => {
  const workers = options.workers ?? availableParallelism()
  const { models, measuredPass, logger, execArgv = [], limits = LIMITS } = options
  const passes = createPassLimits({ floor: limits.transcribe, unmeasured: limits.unmeasured, measured: measuredPass })
  /** What each model was loaded on. */
  const devices = new Map<string, Device['name']>()
  const deviceOf = (model: string): Device['name'] => devices.get(model) ?? 'cpu'
  const runner = createTaskRunner({
    role: 'speech',
    workers,
    logger,
    execArgv,
    gpu: options.gpu,
    limits: { detect: limits.detect, load: limits.load, passes },
    widthOn: (provider) => {
      // Nothing runs on a GPU that this process does not have, whatever the one before had.
      if (provider === 'cpu') devices.clear()
      // As many as a batch takes, so that there are some to make it of.
      return provider === 'cpu' ? workers : GPU_BATCH
    },
    deviceOf: (task) => (task.kind === 'transcribe' ? deviceOf(task.job.model) : 'cpu'),
  })
  const folderOf = (model: string): string | null => models.get(model) ?? null
  return {
    deviceOf: (model) => {
      const name = deviceOf(model)
      return { name, lanes: runner.widthOf(name) }
    },
    passTime: passes.timeOf,
    pid: runner.pid,
    close: runner.close,
    load: (model) => async () => {
      const outcome = (await runner.run({ kind: 'load', model, folder: folderOf(model) })) as Either<ModelLoadFailed | JobFailed, LoadedModel>
      if (E.isRight(outcome)) {
        const { onGpu = false, batch } = outcome.right
        devices.set(model, onGpu ? 'gpu' : 'cpu')
        if (batch !== undefined) logger.info({ model, batch }, batch > 1 ? 'passes of several sessions run together' : 'passes run one by one: together they gain nothing')
      }
      return E.mapLeft(({ reason }: ModelLoadFailed | JobFailed): ModelLoadFailed => ({ _tag: 'ModelLoadFailed', model, reason }))(outcome)
    },
    transcribe: (job, signal) => async () => {
      const task = { kind: 'transcribe', job, folder: folderOf(job.model) } as const
      const outcome = (await runner.run(task, signal)) as Either<ModelLoadFailed | JobFailed, Hypothesis>
      const busySeconds = E.isRight(outcome) ? outcome.right.busySeconds : undefined
      if (busySeconds !== undefined) {
        passes.spent(job.model, 1000 * busySeconds)
        // The GPU may have failed at the model.
        devices.set(job.model, 'cpu')
      }
      return outcome
    },
    detectSpeech: (samples, state) => async () => {
      const task = { kind: 'detect', samples, state } as const
      return (await runner.run(task)) as Either<JobFailed, SpeechProbabilities>
    },
  }
}

type Options = Parameters<typeof createSpeechEngine>[0]

/** Writes each line with the name and the id of the GPU. */
const loggerOf = (logger: Logger, { name, id }: EngineGpu): Logger => ({
  info: (fields, message) => logger.info({ gpu: name, gpuId: id, ...fields }, message),
  warn: (fields, message) => logger.warn({ gpu: name, gpuId: id, ...fields }, message),
  error: (fields, message) => logger.error({ gpu: name, gpuId: id, ...fields }, message),
})

/**
 * Starts one engine for each GPU, or a single engine where `gpus` is empty. Several engines share the cores of the
 * machine for what runs on the CPU.
 */
export const startSpeechEngines = (
  options: Options,
  gpus: ReadonlyArray<EngineGpu>,
): readonly [SpeechEngine, ...ReadonlyArray<SpeechEngine>] => {
  const workers = Math.ceil((options.workers ?? availableParallelism()) / Math.max(1, gpus.length))
  const start = (gpu: EngineGpu): SpeechEngine =>
    createSpeechEngine({ ...options, workers, gpu: gpu.id, logger: loggerOf(options.logger, gpu) })
  const [first, ...others] = gpus
  return first === undefined ? [createSpeechEngine(options)] : [start(first), ...others.map(start)]
}
