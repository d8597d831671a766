import { availableParallelism } from 'node:os'
import type { SpeechEngine } from '../../../application/ports/engine.ts'
import type { Logger } from '../../../application/ports/environment.ts'
import type { EngineGpu } from '../providers/engine-gpus.ts'
import { createSpeechEngine } from './engine-client.ts'

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
