import { readFile } from 'node:fs/promises'
import type { ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { Hypothesis, SpeechEngine } from '../../../application/ports/engine.ts'
import { createSpeechEngine } from '../../../infrastructure/onnx/process/engine-client.ts'
import { readWav } from '../audio/wav.ts'
import { createRecordingLogger } from '../doubles/loggers.ts'

/** The folder of the model that ships with Stenolog. */
export const DEMO = 'models/demo-en'

/** Two recordings of synthetic speech, and their texts. */
export const simon = readWav('test/support/fixtures/engine/simon.wav')
export const SIMON = 'Simon came easily in February.'
export const sheep = readWav('test/support/fixtures/engine/sheep.wav')
export const SHEEP = 'Do not save the brave sheep.'

/** Returns the recording `simon` with a first sample that the fixtures of `openEngine` recognise. */
export const marked = (mark: number): Int16Array => Int16Array.of(mark, ...simon.subarray(1))

interface EngineOptions {
  readonly models?: ReadonlyMap<string, string>
  /** Preloaded into the engine process: it crashes or stalls on marked audio. */
  readonly fixture?: 'crash-on-poison' | 'stall'
  readonly limits?: Parameters<typeof createSpeechEngine>[0]['limits']
}

/** Starts an engine with two workers. It ends with the test. */
export const openEngine = (t: ExecutionContext, { models, fixture, limits }: EngineOptions = {}) => {
  const logger = createRecordingLogger()
  const preload = fixture && new URL(`../fixtures/engine/${fixture}.ts`, import.meta.url).href
  const engine = createSpeechEngine({
    models: models ?? new Map([['demo-en', DEMO]]),
    workers: 2,
    logger,
    execArgv: preload === undefined ? [] : ['--import', preload],
    ...(limits !== undefined && { limits }),
  })
  t.teardown(engine.close)
  return { engine, logger }
}

export const transcribe = (engine: SpeechEngine, samples: Int16Array, model = 'demo-en') =>
  engine.transcribe({ model, language: 'en', samples })

/** Returns the text of a hypothesis, or the error as JSON. */
export const textOf = (outcome: E.Either<unknown, Hypothesis>): string =>
  E.isLeft(outcome) ? JSON.stringify(outcome.left) : outcome.right.segments.map(({ text }) => text.trim()).join(' ')

export const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** A zombie accepts signals, so /proc decides whether a process without a parent has ended. */
export const hasEnded = async (pid: number): Promise<boolean> =>
  !isAlive(pid) || (await readFile(`/proc/${pid}/stat`, 'utf8').then((stat) => / Z /.test(stat), () => true))
