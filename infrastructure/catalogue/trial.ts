import { readFile } from 'node:fs/promises'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Logger } from '../../application/ports/environment.ts'
import { SAMPLE_RATE, VAD_FRAME } from '../../application/ports/engine.ts'
import type { Measured } from '../onnx/model-files/manifest.ts'
import { familyOf } from '../onnx/families.ts'
import { createSpeechEngine } from '../onnx/process/engine-client.ts'
import { readMarianDirectory } from '../onnx/marian-model.ts'
import { createTranslationEngine } from '../onnx/process/translation-client.ts'
import { readGpus } from '../onnx/providers/gpus.ts'
import type { SpeechFamily } from '../onnx/speech-runner.ts'

/** Measurements of a model's run. */
export interface Trial {
  /** Bytes of the weights. */
  readonly weights: number
  /** Megabytes that the model adds to its process, or to the GPU; null if system and driver do not report memory. */
  readonly megabytes: number | null
  /** Time of the slower of two passes. */
  readonly passMilliseconds: number
}

/** Returns the part of a trial that the manifest keeps. */
export const measuredBy = ({ weights, megabytes, passMilliseconds }: Trial): Measured => ({
  ...(megabytes === null ? {} : { vram: { megabytes, weights } }),
  pass: { milliseconds: passMilliseconds, weights },
})

const NAME = 'trial'
/** Logs nothing, because the result of the trial already contains every error. */
const SILENT: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined }

/** Returns the resident memory of a process in bytes; null if the system does not report it. */
const residentBytes = async (pid: number | undefined): Promise<number | null> => {
  const status = await readFile(`/proc/${pid ?? 0}/status`, 'utf8').catch(() => '')
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]
  return kilobytes === undefined ? null : Number(kilobytes) * 1024
}

/** Runs `run` and measures the megabytes that it adds to the process of `pid`. */
const measureRun = async (
  pid: () => number | undefined,
  run: () => Promise<Either<string, number>>,
): Promise<Either<string, Pick<Trial, 'megabytes' | 'passMilliseconds'>>> => {
  const pidBefore = pid()
  const before = await residentBytes(pidBefore)
  const outcome = await run()
  if (E.isLeft(outcome)) return outcome
  const after = pid() === pidBefore ? await residentBytes(pidBefore) : null
  const megabytes = before === null || after === null ? null : Math.max(1, Math.ceil((after - before) / 1e6))
  return E.right({ megabytes, passMilliseconds: outcome.right })
}

/** Runs twice, because the first run allocates memory. Returns the milliseconds of the slower run. */
const runTwice = async (
  run: () => Promise<Either<{ readonly reason: string }, unknown>>,
): Promise<Either<string, number>> => {
  let slowest = 1
  for (let n = 0; n < 2; n++) {
    const began = performance.now()
    const outcome = await run()
    if (E.isLeft(outcome)) return E.left(outcome.left.reason)
    slowest = Math.max(slowest, Math.ceil(performance.now() - began))
  }
  return E.right(slowest)
}

/** Returns the used megabytes of all GPUs together; null if no driver reports them. */
const gpuMegabytes = async (): Promise<number | null> => {
  const gpus = await readGpus()
  return gpus.length === 0 ? null : gpus.reduce((sum, { used }) => sum + used, 0)
}

const trySpeech = async (
  folder: string,
  family: SpeechFamily,
  execArgv: ReadonlyArray<string>,
): Promise<Either<string, Trial>> => {
  const model = await family.read(folder, 'cpu')
  if (E.isLeft(model)) return model
  const {
    abilities: {
      languages: [language = 'en'],
    },
    weights,
  } = model.right
  const engine = createSpeechEngine({ models: new Map([[NAME, folder]]), workers: 1, logger: SILENT, execArgv })
  try {
    // Before the measurement, this allocates the memory that all models share: it detects speech once, and tries to
    // load a model that does not exist.
    const detected = await engine.detectSpeech(new Int16Array(VAD_FRAME), null)
    if (E.isLeft(detected)) return E.left(detected.left.reason)
    await engine.load('none')
    const before = await gpuMegabytes()
    let onGpu = false
    const measurement = await measureRun(engine.pid, async () => {
      const loaded = await engine.load(NAME)
      if (E.isLeft(loaded)) return E.left(loaded.left.reason)
      onGpu = loaded.right.onGpu ?? false
      // The longest audio needs the most memory, because models may shorten the window for shorter audio.
      const samples = new Int16Array(loaded.right.windowSeconds * SAMPLE_RATE)
      return runTwice(() => engine.transcribe({ model: NAME, language, samples }))
    })
    if (E.isLeft(measurement)) return measurement
    const after = onGpu ? await gpuMegabytes() : null
    const megabytes = before === null || after === null ? null : Math.max(1, after - before)
    return E.right({ ...measurement.right, weights: weights.bytes, ...(onGpu ? { megabytes } : {}) })
  } finally {
    await engine.close()
  }
}

const tryTranslator = async (folder: string): Promise<Either<string, Trial>> => {
  const model = await readMarianDirectory(folder)
  if (E.isLeft(model)) return model
  const [from, to] = [model.right.source ?? 'en', model.right.target ?? 'en']
  const engine = createTranslationEngine({ models: new Map([[NAME, folder]]), workers: 1, logger: SILENT })
  try {
    await engine.load('none')
    const measurement = await measureRun(engine.pid, async () => {
      const loaded = await engine.load(NAME)
      if (E.isLeft(loaded)) return E.left(loaded.left.reason)
      return runTwice(() => engine.translate({ model: NAME, text: 'One, two, three.', from, to }))
    })
    return E.isLeft(measurement) ? measurement : E.right({ ...measurement.right, weights: model.right.weights.bytes })
  } finally {
    await engine.close()
  }
}

/**
 * Loads a folder in a separate engine process, like the service, and runs the model. A lack of memory harms only that
 * process. Left: the problem.
 *
 * @param execArgv flags for the Node of a speech engine
 */
export const tryModel = async (
  folder: string,
  execArgv: ReadonlyArray<string> = [],
): Promise<Either<string, Trial>> => {
  const family = await familyOf(folder)
  if (E.isLeft(family)) return family
  return family.right.kind === 'speech' ? trySpeech(folder, family.right, execArgv) : tryTranslator(folder)
}
