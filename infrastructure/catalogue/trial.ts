import { readFile } from 'node:fs/promises'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Logger } from '../../application/ports/environment.ts'
import { SAMPLE_RATE, VAD_FRAME } from '../../application/ports/engine.ts'
import type { Measured } from './manifest.ts'
import { createSpeechEngine } from '../onnx/process/engine-client.ts'
import { readMarianDirectory } from '../onnx/marian-model.ts'
import { readModelDirectory } from '../onnx/whisper/whisper-directory.ts'
import { readModelType } from '../onnx/model-json.ts'
import { createTranslationEngine } from '../onnx/process/translation-client.ts'
import { languagesOf } from '../onnx/whisper/whisper-model.ts'

/** What running a model showed. */
export interface Trial {
  /** Bytes of weights that it loads. */
  readonly weights: number
  /** Megabytes that a process with one set of it holds more than one without, once it has run; null where the system does not tell (all but Linux) and on GPUs. */
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

const trySpeech = async (folder: string): Promise<Either<string, Trial>> => {
  const model = await readModelDirectory(folder)
  if (E.isLeft(model)) return E.left(model.left.reason)
  const [language = 'en'] = languagesOf(model.right)
  const engine = createSpeechEngine({ models: new Map([[NAME, folder]]), workers: 1, logger: SILENT })
  try {
    // Once it detects speech and a thread has looked for a model that nobody has, all is loaded that every model shares.
    const up = await engine.detectSpeech(new Int16Array(VAD_FRAME), null)()
    if (E.isLeft(up)) return E.left(up.left.reason)
    await engine.load('none')()
    let onGpu = false
    const showed = await measured(engine.pid, async () => {
      const loaded = await engine.load(NAME)()
      if (E.isLeft(loaded)) return E.left(loaded.left.reason)
      onGpu = loaded.right.onGpu ?? false
      return twice(engine.transcribe({ model: NAME, language, samples: new Int16Array(SAMPLE_RATE) }))
    })
    if (E.isLeft(showed)) return showed
    const { weights } = model.right
    return E.right({ ...showed.right, weights: weights.bytes, ...(onGpu ? { megabytes: null } : {}) })
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
 */
export const tryModel = async (folder: string): Promise<Either<string, Trial>> =>
  (await readModelType(folder)) === 'marian' ? tryTranslator(folder) : trySpeech(folder)
