import { availableParallelism } from 'node:os'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type {
  Device, Hypothesis, JobFailed, LoadedModel, ModelLoadFailed, SpeechEngine, SpeechProbabilities,
} from '../../../application/ports/engine.ts'
import type { Logger } from '../../../application/ports/environment.ts'
import type { EngineGpu } from '../providers/engine-gpus.ts'
import { folderIn } from './engine-child.ts'
import { GPU_BATCH } from './lanes.ts'
import { createPassLimits, LONGEST_TRIAL_MS } from './pass-limits.ts'
import { createTaskRunner } from './task-runner.ts'

/** Milliseconds. A pass is one run of a model over the audio of a session. */
interface Limits {
  readonly detect: number
  readonly load: number
  /** Shortest limit of a pass, also for fast models. */
  readonly transcribe: number
  /** Limit of a pass whose model was never measured. */
  readonly unmeasured: number
}

/**
 * A load has as much time as in a model's trial, so a slow model that passed its trial is not killed. Detection takes
 * milliseconds, but the detections of all sessions wait for each other.
 */
const LIMITS: Limits = {
  detect: 30_000, transcribe: 120_000, load: LONGEST_TRIAL_MS, unmeasured: LONGEST_TRIAL_MS,
}

const batchMessage = (batch: number): string =>
  batch > 1 ? 'passes of several sessions run together' : 'passes run separately: joined passes are not faster'

/** Starts the speech engine: a child process that starts again whenever it dies or hangs. */
export const createSpeechEngine = (options: {
  /** Folders of the models by name. The map may change. */
  readonly models: ReadonlyMap<string, string>
  /** Milliseconds of a pass in the trial of a model; undefined without a trial. */
  readonly measuredPass?: (model: string) => number | undefined
  /** Threads for the CPU. Default: the number of cores. */
  readonly workers?: number
  readonly logger: Logger
  /** Flags for Node. */
  readonly execArgv?: ReadonlyArray<string>
  /** UUID of the only GPU that the engine may use; absent: the first usable GPU. */
  readonly gpu?: string
  readonly limits?: Limits
}): SpeechEngine => {
  const workers = options.workers ?? availableParallelism()
  const { models, measuredPass, logger, execArgv = [], limits = LIMITS } = options
  const passes = createPassLimits({ floor: limits.transcribe, unmeasured: limits.unmeasured, measured: measuredPass })
  /** The device that each model was loaded on. */
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
      // The previous process may have had a GPU that this process lacks.
      if (provider === 'cpu') devices.clear()
      // The GPU gets enough tasks to fill a batch.
      return provider === 'cpu' ? workers : GPU_BATCH
    },
  })
  const folderOf = folderIn(models)
  return {
    deviceOf: (model) => {
      const name = deviceOf(model)
      return { name, lanes: runner.widthOf(name) }
    },
    passTime: passes.timeOf,
    pid: runner.pid,
    close: runner.close,
    load: async (model) => {
      const answer = await runner.run({ kind: 'load', model, folder: folderOf(model) })
      const outcome = answer as Either<ModelLoadFailed | JobFailed, LoadedModel>
      if (E.isRight(outcome)) {
        const { onGpu = false, batch } = outcome.right
        devices.set(model, onGpu ? 'gpu' : 'cpu')
        if (batch !== undefined) logger.info({ model, batch }, batchMessage(batch))
      }
      return E.mapLeft(
        ({ reason }: ModelLoadFailed | JobFailed): ModelLoadFailed => ({ _tag: 'ModelLoadFailed', model, reason }),
      )(outcome)
    },
    transcribe: async (job, signal) => {
      const task = { kind: 'transcribe', job, folder: folderOf(job.model) } as const
      const outcome = (await runner.run(task, signal)) as Either<ModelLoadFailed | JobFailed, Hypothesis>
      const busySeconds = E.isRight(outcome) ? outcome.right.busySeconds : undefined
      if (busySeconds !== undefined) {
        passes.recordProcessorTime(job.model, 1000 * busySeconds)
        // Only passes on the CPU report their processor time. A model of the GPU gets here after the GPU has failed.
        devices.set(job.model, 'cpu')
      }
      return outcome
    },
    detectSpeech: async (samples, state) => {
      const task = { kind: 'detect', samples, state } as const
      return (await runner.run(task)) as Either<JobFailed, SpeechProbabilities>
    },
  }
}

type EngineOptions = Parameters<typeof createSpeechEngine>[0]

/** Adds the name and the UUID of the GPU to each line. */
const loggerOf = (logger: Logger, { name, id }: EngineGpu): Logger => ({
  info: (fields, message) => logger.info({ gpu: name, gpuId: id, ...fields }, message),
  warn: (fields, message) => logger.warn({ gpu: name, gpuId: id, ...fields }, message),
  error: (fields, message) => logger.error({ gpu: name, gpuId: id, ...fields }, message),
})

/**
 * Starts one engine for each GPU, or a single engine if `gpus` is empty. Several engines share the cores of the machine
 * for work on the CPU.
 */
export const startSpeechEngines = (
  options: EngineOptions,
  gpus: ReadonlyArray<EngineGpu>,
): readonly [SpeechEngine, ...ReadonlyArray<SpeechEngine>] => {
  const workers = Math.ceil((options.workers ?? availableParallelism()) / Math.max(1, gpus.length))
  const start = (gpu: EngineGpu): SpeechEngine =>
    createSpeechEngine({ ...options, workers, gpu: gpu.id, logger: loggerOf(options.logger, gpu) })
  const [first, ...others] = gpus
  return first === undefined ? [createSpeechEngine(options)] : [start(first), ...others.map(start)]
}
