import * as E from 'fp-ts/lib/Either.js'
import { createScheduler } from '../../application/pipeline/scheduler.ts'
import { SAMPLE_RATE, type SpeechEngine, type TranscribeJob } from '../../application/ports/engine.ts'
import { DEFAULT_ENGINE_SETTINGS as SETTINGS } from '../../domain/live/settings.ts'
import { createSpeechEngine } from '../../infrastructure/onnx/process/engine-client.ts'
import { GPU_BATCH } from '../../infrastructure/onnx/process/lanes.ts'
import { chooseProvider } from '../../infrastructure/onnx/providers/execution-provider.ts'
import { demoSpeech } from '../audio.ts'
import type { Benchmark, Contest, Round, Skipped } from '../harness.ts'
import { lagOf } from '../lives.ts'
import { recordLive } from '../recorded-live.ts'
import { TINY_ABSENT } from '../tiny-model.ts'
import { makeShapedModel } from './shaped-model.ts'
import { SHAPES, type WhisperShape } from './whisper-shape.ts'

const MODEL = 'shaped'
const TOKENS = 40
/** Speech of the session whose passes are counted. */
const RECORDED_SECONDS = 20
const MEASURED_MS = 15_000
/** A side must at least carry this share of the sessions that its speed allows. Tried in this order. */
const SHARES = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1]

const monotonic = (): number => performance.now()
const say = (line: string): void => void process.stderr.write(`${line}\n`)
const log = (fields: object, line: string): void => say(`${line} ${JSON.stringify(fields)}`)
const logger = { info: log, warn: log, error: log }

/** Returns the passes per second of an engine with `concurrent` passes that wait or run. */
const speedOf = async (
  engine: SpeechEngine,
  jobs: ReadonlyArray<TranscribeJob>,
  concurrent: number,
): Promise<number> => {
  let [completed, next] = [0, 0]
  const began = monotonic()
  const work = async (): Promise<void> => {
    do {
      const job = jobs[(next += 1) % jobs.length]
      if (job === undefined) throw new Error('the session has no passes')
      const outcome = await engine.transcribe(job)
      if (E.isLeft(outcome)) throw new Error(outcome.left.reason)
      completed += 1
    } while (monotonic() - began < MEASURED_MS)
  }
  await Promise.all(Array.from({ length: concurrent }, work))
  return (1000 * completed) / (monotonic() - began)
}

/**
 * Returns how many sessions an engine carries in real time with a 95th percentile of the lag within max_delay. For an
 * engine that is too slow for one session, it returns the completed share of the passes. An engine that completes the
 * passes of one session, but too late, counts with one session.
 */
const sessionsOf = async (
  engine: SpeechEngine,
  jobs: ReadonlyArray<TranscribeJob>,
  samples: Int16Array,
  concurrent: number,
): Promise<number> => {
  const passes = await speedOf(engine, jobs, concurrent)
  const possible = (passes * RECORDED_SECONDS) / jobs.length
  say(`${passes.toFixed(2)} passes/s; a session needs ${(jobs.length / RECORDED_SECONDS).toFixed(2)} passes/s`)
  if (possible < 1) return possible
  for (const share of SHARES) {
    const count = Math.max(1, Math.floor(possible * share))
    const speakers = Array.from({ length: count }, () => ({ samples, settings: SETTINGS }))
    const lag = await lagOf(engine, (running) => createScheduler(running, monotonic), MODEL, speakers)
    say(`${count} sessions: p95 of the lag ${Math.round(lag)} ms`)
    if (lag <= 1000 * SETTINGS.max_delay) return count
    if (count === 1) break
  }
  return 1
}

const contest = async (shape: WhisperShape): Promise<Contest | Skipped> => {
  const { provider, why } = await chooseProvider()
  if (provider === 'cpu') return { skipped: why }
  const model = await makeShapedModel(shape, TOKENS)
  if (model === null) return TINY_ABSENT
  const { samples } = await demoSpeech()
  const inMainMemory = new URL('./results-in-main-memory.ts', import.meta.url).href
  say(`${provider}: ${why}`)
  let jobs: ReadonlyArray<TranscribeJob> = []

  /** Only one engine runs at a time, because both would share the GPU. `concurrent` passes keep it busy. */
  const result = async (folder: string, concurrent: number, execArgv: ReadonlyArray<string>): Promise<Round> => {
    const engine = createSpeechEngine({ models: new Map([[MODEL, folder]]), logger, execArgv })
    try {
      const loaded = await engine.load(MODEL)
      if (E.isLeft(loaded)) throw new Error(loaded.left.reason)
      if (engine.deviceOf(MODEL).name !== 'gpu') throw new Error('the model does not run on the GPU')
      if (jobs.length === 0) {
        const runs = await recordLive(engine, MODEL, samples.subarray(0, RECORDED_SECONDS * SAMPLE_RATE))
        jobs = runs.flatMap((run) => (run.kind === 'transcribe' ? [run.job] : []))
      }
      return { work: await sessionsOf(engine, jobs, samples, concurrent), seconds: 1, cpuSeconds: null }
    } finally {
      await engine.close()
    }
  }
  return {
    ours: () => result(model.folder, 2 * GPU_BATCH, []),
    peers: () => result(model.singleFolder, 1, ['--import', inMainMemory]),
    close: model.remove,
  }
}

export const gpuSessions = Object.entries(SHAPES).map(([name, shape]): Benchmark => ({
  name: `gpu-sessions-${name}`,
  meaning: `sessions in real time on the GPU with a model of the shape of Whisper ${name} (random 32-bit weights, `
    + `${TOKENS} tokens per pass) and a p95 lag within max_delay (${SETTINGS.max_delay} s)`,
  peer: 'the same code with caches through main memory and one pass at a time',
  unit: 'sessions',
  basis: 'count',
  atLeast: 10,
  rounds: 1,
  warmUp: false,
  prepare: () => contest(shape),
}))
