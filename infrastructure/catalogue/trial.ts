import { readFile } from 'node:fs/promises'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Logger } from '../../application/ports/environment.ts'
import { SAMPLE_RATE, VAD_FRAME } from '../../application/ports/engine.ts'
import type { Measured } from './manifest.ts'
import { familyOf } from '../onnx/families.ts'
import { createSpeechEngine } from '../onnx/process/engine-client.ts'
import { readMarianDirectory } from '../onnx/marian-model.ts'
import { createTranslationEngine } from '../onnx/process/translation-client.ts'
import { readGpus } from '../onnx/providers/gpus.ts'
import type { SpeechFamily } from '../onnx/speech-runner.ts'

/** What running a model showed. */
export interface Trial {
  /** Bytes of weights that it loads. */
  readonly weights: number
  /** Megabytes that a process with one set of it, or the GPU, holds more than without, once it has run; null where neither system nor driver tells. */
  readonly megabytes: number | null
  /** Of the slower one of two passes. */
  readonly passMilliseconds: number
}

/** What of it is kept beside the model's files. */
export const measuredBy = ({ weights, megabytes, passMilliseconds }: Trial): Measured => ({
  ...(megabytes === null ? {} : { vram: { megabytes, weights } }),
  pass: { milliseconds: passMilliseconds, weights },
})

const NAME = 'trial'
/** What goes wrong is in the answer. */
const SILENT: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined }

/** Bytes of memory that a process has, of which nothing is swapped out or not yet touched. */
const residentBytes = async (pid: number | undefined): Promise<number | null> => {
  const status = await readFile(`/proc/${pid ?? 0}/status`, 'utf8').catch(() => '')
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]
  return kilobytes === undefined ? null : Number(kilobytes) * 1024
}

/** What `run` gave, with the megabytes that it left in the process of `pid`. */
const measured = async (
  pid: () => number | undefined,
  run: () => Promise<Either<string, number>>,
): Promise<Either<string, Pick<Trial, 'megabytes' | 'passMilliseconds'>>> => {
  const process = pid()
  const before = await residentBytes(process)
  const outcome = await run()
  if (E.isLeft(outcome)) return outcome
  const after = pid() === process ? await residentBytes(process) : null
  const megabytes = before === null || after === null ? null : Math.max(1, Math.ceil((after - before) / 1e6))
  return E.right({ megabytes, passMilliseconds: outcome.right })
}

const reason = ({ reason }: { readonly reason: string }): string => reason

/** Runs twice, as the first run allocates and the second shows what stays; milliseconds of the slower one. */
const twice = async (run: () => Promise<Either<{ readonly reason: string }, unknown>>): Promise<Either<string, number>> => {
  let slowest = 1
  for (let n = 0; n < 2; n++) {
    const began = performance.now()
    const outcome = await run()
    if (E.isLeft(outcome)) return E.left(reason(outcome.left))
    slowest = Math.max(slowest, Math.ceil(performance.now() - began))
  }
  return E.right(slowest)
}

/** Of all GPUs together, whatever runs on them; null where no driver tells. */
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
  const { abilities: { languages: [language = 'en'] }, weights } = model.right
  const engine = createSpeechEngine({ models: new Map([[NAME, folder]]), workers: 1, logger: SILENT, execArgv })
  try {
    // Once it detects speech and a thread has looked for a model that nobody has, all is loaded that every model shares.
    const up = await engine.detectSpeech(new Int16Array(VAD_FRAME), null)()
    if (E.isLeft(up)) return E.left(up.left.reason)
    await engine.load('none')()
    const before = await gpuMegabytes()
    let onGpu = false
    const showed = await measured(engine.pid, async () => {
      const loaded = await engine.load(NAME)()
      if (E.isLeft(loaded)) return E.left(loaded.left.reason)
      onGpu = loaded.right.onGpu ?? false
      // The most that a pass can cost: a model need not hear its whole window whatever the audio's length.
      const samples = new Int16Array(loaded.right.windowSeconds * SAMPLE_RATE)
      return twice(engine.transcribe({ model: NAME, language, samples }))
    })
    if (E.isLeft(showed)) return showed
    const after = onGpu ? await gpuMegabytes() : null
    const megabytes = before === null || after === null ? null : Math.max(1, after - before)
    return E.right({ ...showed.right, weights: weights.bytes, ...(onGpu ? { megabytes } : {}) })
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
    await engine.load('none')()
    const showed = await measured(engine.pid, async () => {
      const loaded = await engine.load(NAME)()
      if (E.isLeft(loaded)) return E.left(loaded.left.reason)
      return twice(engine.translate({ model: NAME, text: 'One, two, three.', from, to }))
    })
    return E.isLeft(showed) ? showed : E.right({ ...showed.right, weights: model.right.weights.bytes })
  } finally {
    await engine.close()
  }
}

/**
 * Loads a folder in an engine process of its own, as the service would, and runs it. A model for which memory does not
 * suffice harms that process alone. Left: what is wrong.
 *
 * @param execArgv flags for the Node of a speech engine
 */
export const tryModel = async (folder: string, execArgv: ReadonlyArray<string> = []): Promise<Either<string, Trial>> => {
  const family = await familyOf(folder)
  if (E.isLeft(family)) return family
  return family.right.kind === 'speech' ? trySpeech(folder, family.right, execArgv) : tryTranslator(folder)
}
